// Package filechange changes configuration files: all of several, or none.
//
// A file is replaced by renaming a new one over it, so that a reader sees the old or the new text
// and nothing between. Its mode stays, and so does a symbolic link to it. A file that changed since
// its text was read is not written, nor is one of another user.
package filechange
