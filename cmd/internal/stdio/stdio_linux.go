package stdio

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pipeSize is what pipes are enlarged to, where the system allows it. It halves the
// cost of large messages.
const pipeSize = 1 << 20

// openFiles returns files for a loop's peer, which will own them. flush waits, at most
// that long, until what was written to out has reached stdout; call it when out
// is closed.
func openFiles(stdin, stdout *os.File) (in, out *os.File, flush func(time.Duration), err error) {
	if in, err = own(stdin, unix.O_RDONLY); err == nil && in == nil {
		in, err = pumpIn(stdin)
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("standard input: %w", err)
	}
	flush = func(time.Duration) {}
	if out, err = own(stdout, unix.O_WRONLY); err == nil && out == nil {
		out, flush, err = pumpOut(stdout)
	}
	if err != nil {
		in.Close()
		return nil, nil, nil, fmt.Errorf("standard output: %w", err)
	}
	return in, out, flush, nil
}

// own returns a file that a loop can use in f's place, or nil when there is none.
func own(f *os.File, mode int) (*os.File, error) {
	var st unix.Stat_t
	fd := int(f.Fd())
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFSOCK:
		dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		return os.NewFile(uintptr(dup), f.Name()), nil
	case unix.S_IFIFO:
		again, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), mode|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, nil // no /proc, or another user's pipe
		}
		unix.FcntlInt(uintptr(again), unix.F_SETPIPE_SZ, pipeSize)
		return os.NewFile(uintptr(again), f.Name()), nil
	}
	return nil, nil
}

func pumpIn(f *os.File) (*os.File, error) {
	r, w, err := newPipe(f.Name())
	if err != nil {
		return nil, err
	}
	go func() {
		io.Copy(w, f) // its end is all there is to know
		w.Close()
	}()
	return r, nil
}

func pumpOut(f *os.File) (*os.File, func(time.Duration), error) {
	r, w, err := newPipe(f.Name())
	if err != nil {
		return nil, nil, err
	}
	done := make(chan struct{})
	go func() {
		io.Copy(f, r) // on an error the loop's end breaks, which is noticed there
		r.Close()
		close(done)
	}()
	return w, func(patience time.Duration) {
		select {
		case <-done:
		case <-time.After(patience):
		}
	}, nil
}

// newPipe makes a pipe outside Go's poller.
func newPipe(name string) (r, w *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), name), os.NewFile(uintptr(fds[1]), name), nil
}
