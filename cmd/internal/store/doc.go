// Package store changes small files that several programs may change at the same time. A reader
// always sees a whole file, old or new, whatever happens to the writer.
//
// A change is written to a temporary file in the same folder, synced to the disk and renamed over
// the old file. Meanwhile the writer holds a lock on a file with the same name and ".lock"
// appended, which it removes with the lock. If a writer is killed, what it leaves of either is
// harmless, and the next writer removes it. Readers need no lock.
package store
