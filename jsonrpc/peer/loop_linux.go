package peer

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"toolman/jsonrpc"
)

// sharedSize is the size of a loop's read buffer.
const sharedSize = 256 << 10

// A Loop reads from all its peers on one goroutine and writes to them without blocking. That costs
// half of what a goroutine for each pipe costs, because no goroutine has to be woken between
// reading a frame from one peer and writing it to another.
type Loop struct {
	epoll  int
	wake   int // an eventfd
	shared []byte
	wires  map[int32]*loopWire // by descriptor; owned by the loop's goroutine
	over   bool                // owned by the loop's goroutine
	done   chan struct{}
	peers  atomic.Int32 // made so far

	mu     sync.Mutex
	tasks  []func() // guarded by mu
	closed bool     // guarded by mu: so are the descriptors, whose numbers may be used again
}

// NewLoop starts a loop.
func NewLoop() (*Loop, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(epoll)
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	l := &Loop{epoll: epoll, wake: wake, shared: make([]byte, sharedSize),
		wires: map[int32]*loopWire{}, done: make(chan struct{})}
	if err := l.control(unix.EPOLL_CTL_ADD, wake, unix.EPOLLIN); err != nil {
		unix.Close(wake)
		unix.Close(epoll)
		return nil, fmt.Errorf("epoll_ctl: %w", err)
	}
	go l.run()
	return l, nil
}

// Close ends the loop and waits for its goroutine. Close its peers first.
func (l *Loop) Close() {
	l.do(func() { l.over = true })
	<-l.done
}

// Peer makes a peer that reads from in and writes to out, and owns both. Each must be a pipe, a
// socket or a terminal. Other processes may share the open file description of a socket only. in
// and out must be two descriptors. Files that are also in Go's poller, such as those of os.Pipe,
// work but wake it needlessly.
func (l *Loop) Peer(in, out *os.File, o Options) (*Peer, error) {
	w := &loopWire{loop: l, peer: newPeer(o), in: in, out: out, rfd: int(in.Fd()), wfd: int(out.Fd())}
	if w.rfd == w.wfd {
		return nil, fmt.Errorf("%s is given for both directions, which need a descriptor each", in.Name())
	}
	var err error
	if w.rsock, err = prepare(w.rfd); err != nil {
		return nil, fmt.Errorf("preparing %s: %w", in.Name(), err)
	}
	if w.wsock, err = prepare(w.wfd); err != nil {
		return nil, fmt.Errorf("preparing %s: %w", out.Name(), err)
	}
	w.peer.wire = w
	if l.peers.Add(1) == busyPeers {
		raiseGOMAXPROCS()
	}
	return w.peer, nil
}

// Connection makes a peer of a connection, and owns it. Peer.CloseWrite leaves the direction of the
// far end open.
func (l *Loop) Connection(conn *net.UnixConn, o Options) (*Peer, error) {
	defer conn.Close() // its descriptor is in Go's poller
	in, out, err := halves(conn)
	if err != nil {
		return nil, err
	}
	p, err := l.Peer(in, out, o)
	if err != nil {
		in.Close()
		out.Close()
		return nil, err
	}
	p.wire.(*loopWire).duplex = true
	return p, nil
}

// halves returns two descriptors of a connection that are not in Go's poller.
func halves(conn *net.UnixConn) (in, out *os.File, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	var fds [2]int
	controlErr := raw.Control(func(fd uintptr) {
		if err = unix.SetNonblock(int(fd), false); err != nil {
			return
		}
		if fds[0], err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0); err != nil {
			return
		}
		if fds[1], err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0); err != nil {
			unix.Close(fds[0])
		}
	})
	if err = errors.Join(controlErr, err); err != nil {
		return nil, nil, fmt.Errorf("preparing the connection: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "socket"), os.NewFile(uintptr(fds[1]), "socket"), nil
}

// A loop is busy after busyAfter iterations, or once it has had busyPeers peers. The start of a few
// servers takes fewer. Until then the loop yields after each iteration, so that goroutines that got
// a message go on without another thread being woken for them. A busy loop has two processors.
const (
	busyAfter = 100
	busyPeers = 8
)

// yieldEvery is how many iterations a busy loop runs between calls of Gosched. The runtime preempts
// a loop that never yields after 10 ms, and then polls it every 20 µs for a while.
const yieldEvery = 64

// raiseGOMAXPROCS makes Go's scheduler use at least two processors. A busy loop makes system calls
// all the time, and would lose its only processor again and again. As long as no loop is busy, one
// processor is better, because each has its own memory caches, which a start would fill.
func raiseGOMAXPROCS() { runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))) }

// prepare makes a descriptor non-blocking, unless it is a socket. The mode of a socket is shared
// with the parent process, so each call on it asks not to block.
func prepare(fd int) (sock bool, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return false, err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFSOCK {
		return true, nil
	}
	return false, unix.SetNonblock(fd, true)
}

func (l *Loop) control(op, fd int, events uint32) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return jsonrpc.ErrClosed
	}
	return unix.EpollCtl(l.epoll, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// do runs f on the loop's goroutine. It does nothing once the loop is closed.
func (l *Loop) do(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.tasks = append(l.tasks, f)
	if len(l.tasks) == 1 {
		one := [8]byte{1}
		unix.Write(l.wake, one[:])
	}
}

func (l *Loop) run() {
	defer close(l.done)
	events := make([]syscall.EpollEvent, 64)
	for round := 0; !l.over; round++ {
		if round == busyAfter {
			raiseGOMAXPROCS()
		}
		// syscall's EpollWait tells the scheduler that this thread may wait.
		n, err := syscall.EpollWait(l.epoll, events, -1)
		if err != nil && err != syscall.EINTR {
			panic("jsonrpc: epoll_wait: " + err.Error())
		}
		for i := range max(n, 0) {
			l.event(events[i])
		}
		if 0 < round && (round < busyAfter || round%yieldEvery == 0) { // round 0 adds the first peer
			runtime.Gosched()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	unix.Close(l.epoll)
	unix.Close(l.wake)
}

func (l *Loop) event(e syscall.EpollEvent) {
	if int(e.Fd) == l.wake {
		l.runTasks()
		return
	}
	switch w := l.wires[e.Fd]; {
	case w == nil:
	case int(e.Fd) == w.rfd:
		w.readable()
	default:
		w.writable()
	}
}

// runTasks runs the functions that do has got.
func (l *Loop) runTasks() {
	var count [8]byte
	unix.Read(l.wake, count[:])
	l.mu.Lock()
	tasks := l.tasks
	l.tasks = nil
	l.mu.Unlock()
	for _, f := range tasks {
		f()
	}
}
