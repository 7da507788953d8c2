//go:build unix

package spawn

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// startChild does not use os.StartProcess, because that would reap the leader before its group is
// killed.
func startChild(path string, c *Command, env []string, s *streams) (*child, error) {
	closeInheritedOnExec()
	pid, err := syscall.ForkExec(path, c.Argv, &syscall.ProcAttr{
		Dir:   c.Dir,
		Env:   env,
		Files: []uintptr{s.childStdin.Fd(), s.childStdout.Fd(), s.childStderr.Fd()},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return nil, err
	}
	return &child{pid: pid}, nil
}

// signal and kill must not be called after reap, when another group may have the number.

func (c *child) signal(s syscall.Signal, group bool) {
	if group {
		c.signalGroup(s)
	} else {
		unix.Kill(c.pid, s)
	}
}

func (c *child) kill() { c.signalGroup(unix.SIGKILL) }

// reap waits for the dead leader, and for killed processes of its group that this process has
// inherited as pid 1 of a container or as a subreaper.
func (c *child) reap() {
	for {
		if _, err := unix.Wait4(-c.pid, nil, 0, nil); err != nil && err != unix.EINTR {
			return
		}
	}
}

func describe(ws syscall.WaitStatus) string {
	if ws.Signaled() {
		if name := unix.SignalName(ws.Signal()); name != "" {
			return "killed by " + name
		}
		return fmt.Sprintf("killed by signal %d", int(ws.Signal()))
	}
	return fmt.Sprintf("exit status %d", ws.ExitStatus())
}

// newPipe makes a pipe with two blocking ends. NewFile adds only non-blocking descriptors to the
// poller.
func newPipe(name string, size int) (r, w *os.File, err error) {
	fds, err := pipeFDs()
	if err != nil {
		return nil, nil, err
	}
	resize(fds[1], size)
	return os.NewFile(uintptr(fds[0]), name), os.NewFile(uintptr(fds[1]), name), nil
}

// newPolledPipe makes a pipe with a reading end in the poller. The child's end is blocking.
func newPolledPipe(name string) (r, w *os.File, err error) {
	fds, err := pipeFDs()
	if err != nil {
		return nil, nil, err
	}
	unix.SetNonblock(fds[0], true) // fails only for an invalid descriptor
	return os.NewFile(uintptr(fds[0]), name), os.NewFile(uintptr(fds[1]), name), nil
}

func candidates(path string, _ []string) []string { return []string{path} }

func mayExecute(path string) bool { return unix.Access(path, unix.X_OK) == nil }

// hint returns what to do about an error number of fork, exec or pipe, or "".
func hint(err error) string {
	switch err {
	case syscall.ENOENT:
		return "the file exists, so the interpreter that its first line names, or its loader, is missing: install it"
	case syscall.ENOEXEC:
		return "it is not a program for this system; a script needs a first line such as #!/bin/sh"
	case syscall.EACCES, syscall.EPERM:
		return "check that this user may use the file, its interpreter and its working directory"
	case syscall.E2BIG:
		return "its arguments and environment are too large: shorten them"
	case syscall.EMFILE, syscall.ENFILE:
		return "run fewer servers or raise the limit of open files (ulimit -n)"
	case syscall.EAGAIN, syscall.ENOMEM:
		return "run fewer servers or raise the limits of processes and memory (ulimit -u, -v)"
	case syscall.EINVAL:
		return "check its arguments and environment for NUL characters"
	}
	return ""
}
