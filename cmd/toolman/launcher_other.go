//go:build !unix

package main

// endWithLauncher does nothing: Node.js starts its children in a job there, which ends with it.
func endWithLauncher() {}
