package system

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"time"
)

// is reports whether err is one of the errors of the system.
func is(err error, codes []syscall.Errno) bool {
	code, ok := errors.AsType[syscall.Errno](err)
	return ok && slices.Contains(codes, code)
}

// Refused reports whether nobody listens at an address or a socket.
func Refused(err error) bool { return is(err, refused) }

// Unreachable reports whether the network has no way to a host.
func Unreachable(err error) bool { return is(err, unreachable) }

// Reset reports whether the far end has closed a connection.
func Reset(err error) bool { return is(err, reset) || Closed(err) }

// Held reports whether the system refuses a file because a program has it open.
func Held(err error) bool { return is(err, held) }

// Closed reports whether the reader of a pipe has closed it.
func Closed(err error) bool { return is(err, closed) }

const (
	retryFor   = 2 * time.Second
	retryPause = 5 * time.Millisecond
)

// Retry calls f, which opens, replaces or removes a file. If the system refuses that because a
// program has the file open, such as a virus scanner or another toolman that reads it, it calls f
// again for two seconds.
func Retry(f func() error) error {
	until := time.Now().Add(retryFor)
	for {
		err := f()
		if !is(err, inUse) || time.Now().After(until) {
			return err
		}
		time.Sleep(retryPause)
	}
}

// Rename is os.Rename with [Retry].
func Rename(from, to string) error {
	return Retry(func() error { return os.Rename(from, to) })
}
