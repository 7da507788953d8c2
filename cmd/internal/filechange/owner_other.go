//go:build !unix

package filechange

import "os"

func checkOwner(os.FileInfo) error { return nil }

func rootIn(os.FileInfo) bool { return false }

func writable(string) error { return nil }
