//go:build unix

package spawn

import "syscall"

// hintFor says what to do about a bare error number of fork, exec or pipe; "" if err speaks for itself.
func hintFor(err error) string {
	errno, ok := err.(syscall.Errno)
	if !ok {
		return ""
	}
	switch errno {
	case syscall.ENOENT:
		return "the file is there, so the interpreter named in its first line, or its loader, is missing: install that"
	case syscall.ENOEXEC:
		return "it is not a program for this system; a script needs a first line such as #!/bin/sh"
	case syscall.EACCES, syscall.EPERM:
		return "check that the file, its interpreter and its working directory may be used by this user"
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
