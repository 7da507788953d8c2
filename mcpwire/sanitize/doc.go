// Package sanitize makes text of clients and servers safe to show: in one line, of limited length, with
// nothing hidden in it.
package sanitize
