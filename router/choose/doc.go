// Package choose finds the items that toolman_activate is to switch on and off.
//
// An entry of its lists is the name of an item in any of its spellings, a glob, or server:NAME. All
// entries are looked up before anything changes, and each that cannot be used is a problem. A name
// beats the globs of the opposite list. The globs come from models, so their number and length are
// bounded, and they match in linear time.
package choose
