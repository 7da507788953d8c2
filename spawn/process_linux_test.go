package spawn

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolman/fixtures/process"
)

// processState returns the state letter of a process, such as 'S' or 'Z'; 0 if there is none.
func processState(pid int) byte {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	return stat[bytes.LastIndexByte(stat, ')')+2]
}

func countDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestChildHasThreeDescriptors(t *testing.T) {
	inherited, err := unix.Dup(0) // as our parent might leave one: not close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(inherited)
	run(t, nil, "cat")
	p := run(t, nil, "sh", "-c", "echo up; cat")
	readLine(t, p)
	entries, err := os.ReadDir("/proc/" + strconv.Itoa(p.Pid()) + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() > "2" {
			target, _ := os.Readlink("/proc/" + strconv.Itoa(p.Pid()) + "/fd/" + e.Name())
			t.Errorf("descriptor %s has reached the child: %s", e.Name(), target)
		}
	}
}

func TestLeaderIsAZombieUntilItsGroupIsDealtWith(t *testing.T) {
	p := zombie(t)
	if got := newSweep(rand.Text(), map[int]uint64{p.Pid(): startTime(p.Pid())}).inspect(p.Pid()); got != ended {
		t.Error("the reaper would wait for somebody to reap it")
	}
	p.KillGroup()
	waitFor(t, "the end", p.ended)
	if got := processState(p.Pid()); got != 0 {
		t.Errorf("state %q at the end, want no such process", got)
	}
}

// zombie returns a process that has exited and is not dealt with.
func zombie(t *testing.T) *Process {
	t.Helper()
	for {
		start := time.Now()
		p := run(t, nil, "true")
		waitFor(t, "exit", p.Done())
		switch got := processState(p.Pid()); {
		case got == 'Z':
			return p
		case time.Since(start) < lingerLimit:
			t.Fatalf("state %q when Done is closed, want Z: the pid is free for others", got)
		} // otherwise its group was killed, because this test was so slow
	}
}

func TestAdoptedOrphansOfTheGroupAreReaped(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil { // as pid 1 of a container is
		t.Fatal(err)
	}
	defer unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	dir := t.TempDir()
	p := run(t, nil, script("fork", "announce "+dir+" hang", "announce", dir, "eof", "exit", "0")...)
	all := announced(t, dir, 2)
	p.Stdin().Close()
	waitFor(t, "exit", p.Done())
	p.Stop(closer(p), brief)
	waitFor(t, "the end", p.ended)
	for _, id := range all {
		if now, err := process.Of(id.Pid); err == nil && now == id {
			t.Errorf("process %v is there, want it reaped", id)
		}
	}
}

func TestPipesAreAsLargeAsWishedFor(t *testing.T) {
	for _, tt := range []struct{ wish, want int }{{0, 1 << 20}, {128 << 10, 128 << 10}} {
		p := runCommand(t, nil, Command{Argv: []string{"cat"}, Env: os.Environ(), PipeSize: tt.wish})
		for _, f := range []*os.File{p.Stdin(), p.Stdout()} {
			size, err := unix.FcntlInt(f.Fd(), unix.F_GETPIPE_SZ, 0)
			if err != nil || size != tt.want && os.Geteuid() == 0 { // others may have reached their limit
				t.Errorf("wish %d: got %d bytes, %v, want %d", tt.wish, size, err, tt.want)
			}
		}
	}
}

func TestReaperIgnoresBeingAskedToEnd(t *testing.T) {
	dir := t.TempDir()
	r, err := StartReaper()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	run(t, r, script("ignore", "announce", dir, "hang")...)
	all := announced(t, dir, 1)
	signals := []syscall.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGPIPE}
	eventually(t, "the reaper is up", func() bool { return ignores(r.child.pid, signals...) })
	for _, s := range signals {
		unix.Kill(r.child.pid, s)
	}
	r.closePipe()
	awaitDead(t, all)
	waitFor(t, "the reaper's end", r.exited)
}

// ignores reports whether a process ignores all these signals.
func ignores(pid int, signals ...syscall.Signal) bool {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	_, rest, _ := bytes.Cut(status, []byte("SigIgn:\t"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	mask, _ := strconv.ParseUint(string(line), 16, 64)
	for _, s := range signals {
		if mask&(1<<(s-1)) == 0 {
			return false
		}
	}
	return true
}

func TestChildrenTakeNoThreads(t *testing.T) {
	if fd, err := unix.PidfdOpen(os.Getpid(), unix.PIDFD_NONBLOCK); err != nil {
		t.Skipf("this kernel cannot poll for the end of a process: %v", err)
	} else {
		unix.Close(fd)
	}
	threads := func() int {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		return len(tasks)
	}
	const children = 40
	before := threads()
	for range children {
		readLine(t, run(t, nil, "sh", "-c", "echo up; cat"))
	}
	if more := threads() - before; more > children/2 {
		t.Errorf("%d children have taken %d threads", children, more)
	}
}

// comeUp lets a reaper that is held back come up, and waits until it has read what it was told.
func comeUp(r *Reaper) {
	r.resume()
	for {
		unread, err := unix.IoctlGetInt(r.pipe, unix.TIOCINQ)
		check(err)
		if unread == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// isStopped reports whether a process has been stopped by a signal.
func isStopped(t *testing.T, pid int) bool {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false // it is gone
	}
	return bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')'):], []byte(") T "))
}

func TestReaperIsHeldBack(t *testing.T) {
	t.Parallel()
	r := heldBack(t)
	eventually(t, "it goes on by itself", func() bool { return !isStopped(t, r.child.pid) })
}

func TestReaperThatIsHeldBackGoesOnAtTheEnd(t *testing.T) {
	r := heldBack(t)
	r.Close()
	if isStopped(t, r.child.pid) {
		t.Error("the reaper is stopped after Close")
	}
}

func heldBack(t *testing.T) (r *Reaper) {
	t.Helper()
	eventually(t, "one is stopped", func() bool {
		start := time.Now()
		var err error
		if r, err = StartReaper(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		for time.Since(start) < pauseTime && !isStopped(t, r.child.pid) {
			time.Sleep(time.Millisecond)
		}
		return isStopped(t, r.child.pid) // not if this test was so slow that it goes on again
	})
	return r
}
