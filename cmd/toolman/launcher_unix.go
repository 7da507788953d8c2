//go:build unix

package main

import (
	"io"
	"os"
	"strconv"
	"syscall"
)

// endWithLauncher has toolman end when the program that started it does, however that ends. The
// launcher of the npm package asks for it where Node.js cannot replace itself by toolman: the
// variable TOOLMAN_LAUNCHER names a descriptor of a connection whose other end it holds. Without
// it toolman would live on when the launcher is killed while the client holds standard input open.
func endWithLauncher() {
	fd, err := strconv.Atoi(os.Getenv("TOOLMAN_LAUNCHER"))
	if err != nil || fd < 3 {
		return
	}
	os.Unsetenv("TOOLMAN_LAUNCHER") // the servers are not to see it, nor have the descriptor
	syscall.CloseOnExec(fd)
	if syscall.SetNonblock(fd, true) != nil { // so that reading holds no thread
		return
	}
	f := os.NewFile(uintptr(fd), "launcher")
	go func() {
		_, _ = io.Copy(io.Discard, f)
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	}()
}
