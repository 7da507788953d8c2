//go:build unix

package spawn

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolman/fixtures/process"
)

// patience is how long a test waits for what must happen; it says nothing about how fast it should.
const patience = time.Minute

// unhurried is a ladder whose waits no well-behaved child needs, so that how it ended shows which
// rung ended it.
var unhurried = Ladder{AfterEOF: patience, AfterTerm: patience}

// brief is a ladder for children that will not be talked to.
var brief = Ladder{AfterEOF: 20 * time.Millisecond, AfterTerm: 20 * time.Millisecond}

// run starts a child that is gone, with all that is ours of it, when the test ends.
func run(t *testing.T, r *Reaper, argv ...string) *Process {
	t.Helper()
	return runCommand(t, r, Command{Name: "test", Argv: argv, Env: os.Environ()})
}

func runCommand(t *testing.T, r *Reaper, c Command) *Process {
	t.Helper()
	p, err := Start(c, r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Stop(closer(p), brief)
		p.Stdout().Close()
	})
	return p
}

func closer(p *Process) func() { return func() { p.Stdin().Close() } }

func waitFor(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	if !closedWithin(c, patience) {
		t.Fatalf("still waiting for %s", what)
	}
}

// eventually polls, because the kernel tells nobody but the parent of a process's end.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still waiting until %s", what)
		}
	}
}

// readLine reads up to a line end from a child, byte by byte so that nothing is lost to a buffer.
func readLine(t *testing.T, p *Process) string {
	t.Helper()
	var line []byte
	for b := make([]byte, 1); ; line = append(line, b[0]) {
		if _, err := p.Stdout().Read(b); err != nil {
			t.Fatalf("reading stdout after %q: %v; stderr: %s", line, err, p.StderrTail())
		}
		if b[0] == '\n' {
			return string(line)
		}
	}
}

// announce leaves a process in dir, for announced.
func announce(dir string, pid int) {
	id, err := process.Of(pid)
	check(err)
	check(os.WriteFile(filepath.Join(dir, strconv.Itoa(pid)), []byte(id.String()+"\n"), 0o600))
}

// announced waits for n processes to have been left in dir, and returns them.
func announced(t *testing.T, dir string, n int) []process.ID {
	t.Helper()
	if !process.Supported {
		t.Skip("this system does not show when a process has started")
	}
	var all []process.ID
	eventually(t, fmt.Sprintf("%d processes have come up", n), func() bool {
		names, _ := filepath.Glob(dir + "/*")
		all = all[:0]
		for _, name := range names {
			text, _ := os.ReadFile(name)
			if line, whole := strings.CutSuffix(string(text), "\n"); whole {
				id, err := process.Parse(line)
				check(err)
				all = append(all, id)
			}
		}
		return len(all) == n
	})
	return all
}

// awaitDead waits until none of the processes is left.
func awaitDead(t *testing.T, all []process.ID) {
	t.Helper()
	left := func() []process.ID {
		return slices.DeleteFunc(slices.Clone(all), func(id process.ID) bool { return !id.Alive() })
	}
	for deadline := time.Now().Add(patience); len(left()) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			for _, id := range left() {
				t.Log(id.Describe())
			}
			t.Fatalf("still alive: %v", left())
		}
	}
}

func TestExitStatus(t *testing.T) {
	for _, tt := range []struct{ name, shell, want string }{
		{"success", "exit 0", "exit status 0"},
		{"failure", "exit 3", "exit status 3"},
		{"crash", "kill -SEGV $$", "killed by SIGSEGV"},
		{"killed by somebody", "kill -KILL $$", "killed by SIGKILL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := run(t, nil, "sh", "-c", tt.shell)
			waitFor(t, "exit", p.Done())
			if got := p.ExitStatus(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestBytesPassThroughUnchanged(t *testing.T) {
	p := run(t, nil, "cat")
	sent := strings.Repeat("a\x00\xff\r\n", 300_000)
	go func() {
		io.WriteString(p.Stdin(), sent)
		p.Stdin().Close()
	}()
	got, err := io.ReadAll(p.Stdout())
	if err != nil || string(got) != sent {
		t.Errorf("got %d bytes and %v, want the %d bytes sent", len(got), err, len(sent))
	}
	waitFor(t, "exit", p.Done())
}

func TestStopTakesTheMildestRungThatWorks(t *testing.T) {
	for _, tt := range []struct {
		name   string
		verbs  []string
		ladder Ladder
		want   string
	}{
		{"a child that ends at EOF", []string{"print", "up", "eof", "exit", "5"}, unhurried, "exit status 5"},
		{"a child that ends at SIGTERM", []string{"term", "exit", "6"}, Ladder{0, patience}, "exit status 6"},
		{"a child that ignores everything", []string{"ignore", "print", "up", "hang"}, brief, "killed by SIGKILL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := run(t, nil, script(tt.verbs...)...)
			readLine(t, p)
			p.Stop(closer(p), tt.ladder)
			waitFor(t, "exit", p.Done())
			if got := p.ExitStatus(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestStopLeavesNobodyOfTheGroup(t *testing.T) {
	stubborn := "ignore announce DIR hang"
	for _, tt := range []struct {
		name  string
		argv  func(dir string) []string
		count int
	}{
		{"direct", func(dir string) []string {
			return script("ignore", "announce", dir, "hang")
		}, 1},
		{"under a shell that waits", func(dir string) []string {
			return append([]string{"sh", "-c", `"$@"; true`, "sh"}, script("ignore", "announce", dir, "hang")...)
		}, 1},
		{"under two shells", func(dir string) []string {
			return append([]string{"sh", "-c", `sh -c '"$@"; true' sh "$@"; true`, "sh"}, script("ignore", "announce", dir, "hang")...)
		}, 1},
		{"with grandchildren", func(dir string) []string {
			fork := strings.ReplaceAll(stubborn, "DIR", dir)
			return script("fork", fork, "fork", fork, "ignore", "announce", dir, "hang")
		}, 3},
		{"with grandchildren of a leader that ends at EOF", func(dir string) []string {
			return script("fork", strings.ReplaceAll(stubborn, "DIR", dir), "announce", dir, "eof")
		}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			p := run(t, nil, tt.argv(dir)...)
			all := announced(t, dir, tt.count)
			p.Stop(closer(p), brief)
			waitFor(t, "the end", p.ended)
			awaitDead(t, all)
		})
	}
}

func TestStopGivesAWrappedServerItsWait(t *testing.T) {
	dir := t.TempDir()
	argv := append([]string{"sh", "-c", `"$@"; true`, "sh"}, script("term", "pause", "announce", dir)...)
	for {
		p := run(t, nil, argv...)
		readLine(t, p)
		start := time.Now()
		p.Stop(closer(p), Ladder{0, patience})  // SIGTERM ends the shell at once
		late := time.Since(start) > lingerLimit // the server was killed if it was so slow
		if names, _ := filepath.Glob(dir + "/*"); len(names) > 0 || !late {
			announced(t, dir, 1)
			return
		}
	}
}

func TestGroupOutlivesItsLeaderUntilKilled(t *testing.T) {
	dir := t.TempDir()
	for {
		start := time.Now()
		p := run(t, nil, "sh", "-c", `exec 3<&0; (read line <&3; echo "last words: $line"; : >"$0/$$"; sleep 100) & exit 4`, dir)
		waitFor(t, "exit", p.Done())
		fmt.Fprintln(p.Stdin(), "still here")
		stdout := bufio.NewReader(p.Stdout())
		got, err := stdout.ReadString('\n')
		if err != nil && time.Since(start) > lingerLimit {
			continue // it was killed because this test was so slow
		}
		if want := "last words: still here\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		p.KillGroup()
		waitFor(t, "the end", p.ended)
		if _, err := stdout.ReadByte(); err != io.EOF {
			t.Errorf("got %v from stdout after KillGroup, want EOF", err)
		}
		if got, want := p.ExitStatus(), "exit status 4"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		return
	}
}

func TestGroupIsKilledWhenNobodyAsks(t *testing.T) {
	dir := t.TempDir()
	p := run(t, nil, script("fork", "ignore announce "+dir+" hang", "eof", "exit", "0")...)
	all := announced(t, dir, 1)
	p.Stdin().Close()
	waitFor(t, "the end", p.ended)
	awaitDead(t, all)
}

func TestStopKillsTheGroupOfALeaderThatIsGone(t *testing.T) {
	dir := t.TempDir()
	p := run(t, nil, script("fork", "term announce "+dir+" hang", "eof", "exit", "0")...)
	readLine(t, p)
	p.Stdin().Close()
	waitFor(t, "exit", p.Done())
	p.Stop(closer(p), Ladder{0, patience})
	waitFor(t, "the end", p.ended)
	if names, _ := filepath.Glob(dir + "/*"); len(names) > 0 {
		t.Error("the grandchild was sent SIGTERM and given time, want it killed at once")
	}
	if _, err := p.Stdout().Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("got %v from stdout, want EOF: the grandchild lives", err)
	}
}

func TestStopEndsAlthoughSomebodyOutsideTheGroupHoldsThePipes(t *testing.T) {
	dir := t.TempDir()
	p := run(t, nil, script("daemon", "announce "+dir+" print up hang", "eof")...)
	daemon := announced(t, dir, 1)[0]
	t.Cleanup(func() { daemon.Kill() })
	p.Stop(closer(p), brief)
	waitFor(t, "the end", p.ended)
	if !daemon.Alive() {
		t.Error("the daemon is dead, so the test has shown nothing")
	}
	waitFor(t, "the end of reading stderr", p.stderr.eof)
}

func TestStopFromManySides(t *testing.T) {
	for range 20 {
		p := run(t, nil, "sh", "-c", "trap '' TERM; cat; sleep 100 & sleep 100")
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() { p.Stop(closer(p), brief) })
			wg.Go(func() {
				if i%2 == 0 {
					p.KillGroup()
				}
				_ = p.StderrTail() + p.ExitStatus()
			})
		}
		wg.Wait()
		waitFor(t, "the end", p.ended)
	}
}

func TestASecondStopWithShorterWaitsMakesAnEnd(t *testing.T) {
	p := run(t, nil, script("ignore", "print", "up", "hang")...)
	readLine(t, p)
	first := make(chan struct{})
	go func() {
		defer close(first)
		p.Stop(closer(p), Ladder{10 * patience, 10 * patience})
	}()
	p.Stop(closer(p), brief)
	waitFor(t, "the end", p.ended)
	waitFor(t, "the first Stop", first)
}

func TestNothingIsLeftInThisProcess(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would close files that we forget
	descriptors, goroutines := countDescriptors(t), runtime.NumGoroutine()
	dir := t.TempDir()
	for i := range 10 {
		p := run(t, nil, script("daemon", "announce "+dir+" hang", "complain", "hello", "eof")...)
		announced(t, dir, i+1)
		p.Stop(closer(p), brief)
		p.Stdout().Close()
	}
	for range 10 {
		if _, err := Start(Command{Argv: []string{"cat"}, Env: os.Environ(), Dir: "/nowhere"}, nil); err == nil {
			t.Fatal("started in a directory that is not there")
		}
		if _, err := Start(Command{Argv: []string{brokenScript(t)}}, nil); err == nil {
			t.Fatal("started a script without interpreter")
		}
	}
	daemons := announced(t, dir, 10)
	t.Cleanup(func() {
		for _, daemon := range daemons {
			daemon.Kill()
		}
	})
	eventually(t, "descriptors are closed", func() bool { return countDescriptors(t) <= descriptors })
	eventually(t, "goroutines have ended", func() bool { return runtime.NumGoroutine() <= goroutines })
	if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != unix.ECHILD {
		t.Errorf("got child %d and %v, want no child and no zombie", pid, err)
	}
}

// brokenScript is a file that is found and executable but cannot be run.
func brokenScript(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(path, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPipesAreLeftToTheCaller(t *testing.T) {
	p := run(t, nil, "cat")
	for _, f := range []*os.File{p.Stdin(), p.Stdout()} {
		flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
		if err != nil || flags&unix.O_NONBLOCK != 0 {
			t.Errorf("%s: flags %x, %v, want a blocking descriptor", f.Name(), flags, err)
		}
		if err := f.SetDeadline(time.Now()); err == nil {
			t.Errorf("%s is in Go's poller", f.Name())
		}
	}
}
