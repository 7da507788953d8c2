//go:build !unix

package catalogs

import "io/fs"

// own finds no problem: here a file's mode does not tell who may write it.
func own(string, fs.FileInfo) error { return nil }
