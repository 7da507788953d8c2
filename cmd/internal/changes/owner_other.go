//go:build !unix

package changes

import "io/fs"

// foreign knows no owners: the system refuses what may not be written.
func foreign(fs.FileInfo) string { return "" }
