//go:build !unix

package logins

func writeToFullDisk(*File) error { return nil }
