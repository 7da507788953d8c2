// Package store changes small files that several programs may want to change at once,
// so that a reader sees a whole one, old or new, whatever happens to the writer.
//
// A change is written to a temporary file in the same folder, brought to the disk and
// renamed over the old one. While it is made, the writer holds a lock on a file beside it,
// named like it with ".lock" behind, which goes away with the lock; what a writer that was
// killed leaves of either is harmless, and taken away by the next. Readers need no lock.
package store
