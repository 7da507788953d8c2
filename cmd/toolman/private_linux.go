package main

import "golang.org/x/sys/unix"

// keepPrivate has the kernel show the memory and the environment of this process to root alone.
// They hold the secrets of all servers, and each server runs as the same user. The reaper process
// has none of these, and another toolman's reaper reads its environment, so it does without.
func keepPrivate() {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // it fails for other values only
}
