// Package suggest finds known names that are similar to an unknown name.
//
// A name is similar to another if they differ only in case, separators or the namespace, if one
// contains the other, or if a few edits turn one into the other. The edits are counted with bit
// vectors, 64 bytes of a name at once, so that a search in 10,000 names takes about 3 ms instead of
// 80.
package suggest
