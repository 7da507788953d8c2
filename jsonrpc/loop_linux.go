package jsonrpc

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
)

// sharedSize is the size of a loop's read buffer.
const sharedSize = 256 << 10

// A Loop reads all its peers on one goroutine and writes to them without blocking.
// That costs half of what a goroutine for each pipe does: nobody has to be
// woken between reading a frame here and writing it there.
type Loop struct {
	epoll  int
	wake   int // an eventfd
	shared []byte
	wires  map[int32]*loopWire // by descriptor; owned by the loop's goroutine
	over   bool                // owned by the loop's goroutine
	done   chan struct{}
	peers  atomic.Int32 // made so far

	mu    sync.Mutex
	tasks []func() // guarded by mu
	gone  bool     // guarded by mu: epoll and wake are closed, their numbers may be somebody else's
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

// Close ends the loop and waits for its goroutine. Close the peers first: those
// still open are left as they are.
func (l *Loop) Close() {
	l.do(func() { l.over = true })
	<-l.done
}

// Peer makes a peer that reads from in and writes to out, and owns both. Each
// must be a pipe, socket or terminal whose open file description nobody else
// uses; sockets may be shared. in and out must be two descriptors. Files that
// Go's own poller knows, as those of os.Pipe, work but wake it for nothing.
func (l *Loop) Peer(in, out *os.File, o PeerOptions) (*Peer, error) {
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
	if l.peers.Add(1) == manyPeers {
		twoProcessors()
	}
	return w.peer, nil
}

// Connection makes a peer of a connection, and owns it. CloseWrite leaves the far end's
// direction open.
func (l *Loop) Connection(conn *net.UnixConn, o PeerOptions) (*Peer, error) {
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

// halves returns two descriptors of a connection that Go's poller does not know.
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

// A loop is busy after so many rounds; the start of a few servers is over before. Until then
// its goroutine gives way after each round, so that those who were given a message go on
// without another thread being woken for them. From then on it has two processors, which
// are there sooner for so many peers.
const (
	manyRounds = 100
	manyPeers  = 8
)

// breath is after how many rounds a busy loop gives way. From one that never does, Go's
// runtime takes the processor after 10 ms, and then looks at it every 20 µs for a while.
const breath = 64

// twoProcessors makes Go's scheduler use two processors at least. A busy loop goes
// in and out of system calls all the time; with one it would keep being taken away. Any
// other is better off with the one that there is: a second has caches of memory of its own,
// and a start would fill them.
func twoProcessors() { runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))) }

// prepare makes a descriptor non-blocking, unless it is a socket: those are
// asked not to block at each call, because their mode belongs to the parent too.
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
	if l.gone {
		return ErrClosed
	}
	return unix.EpollCtl(l.epoll, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// do runs f on the loop's goroutine, soon. Once the loop is closed it does nothing.
func (l *Loop) do(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone {
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
		if round == manyRounds {
			twoProcessors()
		}
		// syscall's EpollWait tells the scheduler that this thread may wait.
		n, err := syscall.EpollWait(l.epoll, events, -1)
		if err != nil && err != syscall.EINTR {
			panic("jsonrpc: epoll_wait: " + err.Error())
		}
		for i := range max(n, 0) {
			l.event(events[i])
		}
		if 0 < round && (round < manyRounds || round%breath == 0) { // the first has only brought the first peer
			runtime.Gosched()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = true
	unix.Close(l.epoll)
	unix.Close(l.wake)
}

func (l *Loop) event(e syscall.EpollEvent) {
	if int(e.Fd) == l.wake {
		l.chores()
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

// chores runs what do was given.
func (l *Loop) chores() {
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
