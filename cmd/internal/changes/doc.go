// Package changes changes files of the user, such as the configurations of MCP clients, so that
// each change can be undone byte for byte.
//
//	store, err := changes.Open()
//	err = store.Apply(ctx, []changes.Change{{Path: …, Before: …, After: …}})   // all of them or none
//	for _, r := range records { undone, err := store.Undo(ctx, r) }
//
// For each file that it changes, a [Store] keeps a record: what the file was, what was written, and
// which entries were added and taken out. Records are in $XDG_STATE_HOME/toolman/install, which
// only the user can read. There are no backups beside the files: those of a project would be
// committed.
//
// [Store.Undo] puts the file back as it was, if it still is what was written. If it has been
// changed since, Undo takes out the entries that were added, and puts back those that were taken
// out; other changes stay. A file that did not exist is removed, with the directories that were
// made for it.
//
// A file is replaced by a new one under the same name with the same mode, so readers see either the
// old or the new. A symbolic link stays, and its target is replaced. A file that belongs to another
// user, or that its owner may not write, is an error, and stays as it is.
package changes
