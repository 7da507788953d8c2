package peer

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"toolman/jsonrpc"
)

// loopWire moves the bytes of one peer of a Loop.
type loopWire struct {
	loop         *Loop
	peer         *Peer
	in, out      *os.File
	rfd, wfd     int
	rsock, wsock bool
	duplex       bool // in and out are one socket, which no other process has

	// owned by the loop's goroutine
	started  bool
	reading  bool  // registered for input
	ended    bool  // Closed was reported
	released bool  // in is closed
	broken   error // why writing failed, nil if it did not
	linger   *time.Timer

	// guarded by peer.out.mu
	polled bool // out was registered for output before
	closed bool // out is closed, or about to be
}

func (w *loopWire) start() {
	w.loop.do(func() {
		w.started = true
		if w.released {
			w.finish(jsonrpc.ErrClosed)
			return
		}
		w.loop.wires[int32(w.rfd)] = w
		w.loop.wires[int32(w.wfd)] = w
		w.read(true)
		w.writable() // frames that were sent before
		w.armLinger()
	})
}

func (w *loopWire) pause() { w.read(false) }

func (w *loopWire) resume() {
	w.loop.do(func() {
		w.read(true)
		w.armLinger()
	})
}

// read turns input events on or off.
func (w *loopWire) read(on bool) {
	if w.ended || w.reading == on {
		return
	}
	w.reading = on
	if !on {
		w.loop.control(unix.EPOLL_CTL_DEL, w.rfd, 0)
		return
	}
	if err := w.loop.control(unix.EPOLL_CTL_ADD, w.rfd, unix.EPOLLIN); err != nil {
		w.reading = false
		w.finish(fmt.Errorf("epoll_ctl: %w", err))
	}
}

// readable reads once. more is false if there was nothing to read.
func (w *loopWire) readable() (more bool) {
	if !w.reading {
		return false
	}
	f := &w.peer.frames
	buf := f.space(w.loop.shared)
	n, errno := readNow(w.rfd, w.rsock, buf)
	switch {
	case errno == unix.EINTR:
		return true
	case errno == unix.EAGAIN:
		return false
	case errno != 0:
		w.finish(os.NewSyscallError("read", errno))
		return false
	case n == 0:
		w.finish(io.EOF)
		return false
	}
	w.armLinger()
	f.fill(buf, n)
	w.peer.deliver()
	return true
}

// finish reports the end of the input.
func (w *loopWire) finish(cause error) {
	if w.ended || !w.started {
		return
	}
	w.read(false)
	w.ended = true
	w.peer.end(cause)
}

// armLinger starts the time that a peer has left once writing to it has failed. Each read starts it
// again.
func (w *loopWire) armLinger() {
	switch {
	case w.broken == nil || w.ended:
	case w.linger == nil:
		w.linger = time.AfterFunc(lingerTimeout, func() { w.loop.do(w.lingerExpired) })
	default:
		w.linger.Reset(lingerTimeout)
	}
}

// lingerExpired ends a peer that sent nothing. It leaves alone one that is paused: resume starts
// the time again.
func (w *loopWire) lingerExpired() {
	if w.reading && !w.readable() {
		w.finish(w.broken)
	}
}

func (w *loopWire) writable() {
	o := &w.peer.out
	o.mu.Lock()
	o.blocked = false
	if !w.closed {
		w.flushLocked()
	}
	paused := o.releaseLocked()
	o.mu.Unlock()
	resume(paused)
}

func (w *loopWire) flushLocked() {
	o := &w.peer.out
	for o.waiting() > 0 {
		n, errno := w.write(o.buf[o.off:])
		switch errno {
		case 0:
			o.wroteLocked(n)
		case unix.EINTR:
		case unix.EAGAIN:
			w.blockLocked()
			return
		default:
			o.closed, o.buf, o.off = true, nil, 0
			w.closeWriteLocked()
			w.loop.do(func() {
				w.broken = os.NewSyscallError("write", errno)
				w.armLinger()
			})
			return
		}
	}
	if o.ending && !o.closed {
		o.closed = true
		w.closeWriteLocked()
	}
}

// writeNowLocked leaves errors to flushLocked, which gets them as well.
func (w *loopWire) writeNowLocked(pieces [][]byte) int {
	if w.closed {
		return 0
	}
	n, errno := w.write(pieces...)
	if errno != 0 {
		return 0
	}
	return n
}

// blockLocked asks for an event as soon as the pipe takes more.
func (w *loopWire) blockLocked() {
	w.peer.out.blocked = true
	op := unix.EPOLL_CTL_MOD
	if !w.polled {
		op, w.polled = unix.EPOLL_CTL_ADD, true
	}
	w.loop.control(op, w.wfd, unix.EPOLLOUT|unix.EPOLLONESHOT)
}

// closeWriteLocked closes out on the loop's goroutine, which handles no event for the descriptor
// meanwhile. It removes out from the epoll set, where a socket that another process has open would
// stay.
func (w *loopWire) closeWriteLocked() {
	if w.closed {
		return
	}
	w.closed = true
	polled := w.polled
	w.loop.do(func() {
		if polled {
			w.loop.control(unix.EPOLL_CTL_DEL, w.wfd, 0)
		}
		delete(w.loop.wires, int32(w.wfd))
		if w.duplex {
			unix.Shutdown(w.wfd, unix.SHUT_WR) // in still has the socket open
		}
		w.out.Close()
	})
}

func (w *loopWire) closeLocked() {
	w.closeWriteLocked()
	w.loop.do(func() {
		if w.released {
			return
		}
		w.released = true
		w.finish(jsonrpc.ErrClosed)
		delete(w.loop.wires, int32(w.rfd))
		w.in.Close()
	})
}

// goneLocked asks the kernel whether any process has the other end of out open.
func (w *loopWire) goneLocked() bool {
	if w.closed {
		return true
	}
	fds := []unix.PollFd{{Fd: int32(w.wfd)}}
	n, err := unix.Poll(fds, 0)
	return n > 0 && err == nil && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}

// readNow and write use raw system calls, which cannot block here, so Go's scheduler need not know
// of them.
func readNow(fd int, sock bool, b []byte) (int, syscall.Errno) {
	var n uintptr
	var errno syscall.Errno
	if sock {
		n, _, errno = syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
	} else {
		n, _, errno = syscall.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	}
	return int(n), errno
}

func (w *loopWire) write(pieces ...[]byte) (int, syscall.Errno) {
	var room [16]unix.Iovec
	iov := room[:0]
	for _, piece := range pieces {
		if len(piece) > 0 {
			v := unix.Iovec{Base: &piece[0]}
			v.SetLen(len(piece))
			iov = append(iov, v)
		}
	}
	var n uintptr
	var errno syscall.Errno
	if w.wsock {
		msg := unix.Msghdr{Iov: &iov[0]}
		msg.SetIovlen(len(iov))
		n, _, errno = syscall.RawSyscall(unix.SYS_SENDMSG, uintptr(w.wfd), uintptr(unsafe.Pointer(&msg)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	} else {
		n, _, errno = syscall.RawSyscall(unix.SYS_WRITEV, uintptr(w.wfd), uintptr(unsafe.Pointer(&iov[0])), uintptr(len(iov)))
	}
	return int(n), errno
}
