//go:build unix

package spawn

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// gateway is what a scripted child does to be a toolman: it runs argv under a reaper, and leaves
// its pid and the reaper's in dir. One that is settled has run for so long that the reaper has come
// up.
func gateway(settled bool, dir string, argv []string) {
	r, err := StartReaper()
	check(err)
	_, err = Start(Command{Name: "server", Argv: argv, Env: os.Environ()}, r)
	check(err)
	if settled {
		comeUp(r)
	}
	announce(dir, os.Getpid())
	announce(dir, r.child.pid)
	time.Sleep(lifetime)
}

// inShell wraps argv in a shell that waits for it, and leaves word of the shell in dir.
func inShell(dir string, argv []string) []string {
	return append(shell(`"$@"; true`, dir), argv...)
}

// shell is a shell that leaves word of itself in dir and goes on with a text.
func shell(text, dir string) []string {
	return []string{"sh", "-c", `"$0" __child announce-parent "$1"; shift; ` + text, script()[0], dir}
}

func TestKilledGatewayLeavesNobody(t *testing.T) {
	for _, tt := range []struct {
		name  string
		argv  func(dir string, stubborn []string) []string
		count int // processes of the server
		linux bool
		verb  string // "gateway" unless given
	}{
		{"a server", func(_ string, stubborn []string) []string { return stubborn }, 1, false, ""},
		{"under a shell", inShell, 2, false, ""},
		{"under a shell, long after the start", inShell, 2, false, "settled-gateway"},
		{"under two shells", func(dir string, stubborn []string) []string {
			return inShell(dir, inShell(dir, stubborn))
		}, 3, false, ""},
		{"with a grandchild", func(dir string, _ []string) []string {
			return script("fork", "ignore announce "+dir+" hang", "ignore", "announce", dir, "hang")
		}, 2, false, ""},
		{"with a grandchild whose parent has gone", func(dir string, _ []string) []string {
			return script("fork", "daemon ignore,announce,"+dir+",hang", "ignore", "announce", dir, "hang")
		}, 2, true, ""},
		{"with a grandchild in its own session", func(dir string, _ []string) []string {
			return script("daemon", "ignore announce "+dir+" hang", "ignore", "announce", dir, "hang")
		}, 2, true, ""},
		{"behind another gateway", func(dir string, stubborn []string) []string {
			return script(append([]string{"gateway", dir}, inShell(dir, stubborn)...)...)
		}, 4, false, ""},
		{"under a shell, without environment", func(dir string, stubborn []string) []string {
			return inShell(dir, append([]string{"env", "-i"}, stubborn...))
		}, 2, false, ""},
		{"behind another gateway, without environment", func(dir string, stubborn []string) []string {
			return script(append([]string{"gateway", dir, "env", "-i"}, stubborn...)...)
		}, 3, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.linux && runtime.GOOS != "linux" {
				t.Skip("only Linux shows whose a process is once it has left its group")
			}
			dir := t.TempDir()
			server := tt.argv(dir, script("ignore", "announce", dir, "hang"))
			p := run(t, nil, script(append([]string{cmp.Or(tt.verb, "gateway"), dir}, server...)...)...)
			all := announced(t, dir, tt.count+2) // and the gateway and its reaper
			start := time.Now()
			p.KillGroup() // as clients do that kill what they have started
			awaitDead(t, all)
			t.Logf("all %d dead after %v", len(all), time.Since(start))
		})
	}
}

func TestOutliveAKilledGateway(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	p := run(t, nil, script(append([]string{"gateway", dir}, script("outlive", "announce "+other+" hang", "announce", dir, "hang")...)...)...)
	all, left := announced(t, dir, 3), announced(t, other, 1)
	t.Cleanup(func() { left[0].Kill() })
	p.KillGroup()
	awaitDead(t, all) // the reaper, too
	if !left[0].Alive() {
		t.Error("it has ended")
	}
}

func TestReaperOfAGatewayThatIsKilledAtOnce(t *testing.T) {
	for range 5 { // the reaper may not have come up yet
		dir := t.TempDir()
		p := run(t, nil, script(append([]string{"gateway", t.TempDir()}, shell(`kill -KILL $PPID; trap "" TERM; sleep 100; true`, dir)...)...)...)
		waitFor(t, "exit", p.Done())
		all := announced(t, dir, 1)
		awaitDead(t, all)
	}
}

func TestClosedReaperLeavesNobody(t *testing.T) {
	r, err := StartReaper()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run(t, r, script("fork", "ignore announce "+dir+" hang", "ignore", "announce", dir, "hang")...)
	stopped := run(t, r, script("eof")...)
	all := announced(t, dir, 2)
	stopped.Stop(closer(stopped), unhurried)
	r.Close()
	r.Close()
	waitFor(t, "the reaper's end", r.exited)
	awaitDead(t, all)
}

// What Close has not ended when its time is over, the reaper ends.
func TestReaperEndsWhatCloseHasNoTimeFor(t *testing.T) {
	r, err := StartReaper()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := run(t, r, script("daemon", "ignore announce "+dir+" hang", "announce", dir, "eof")...)
	all := announced(t, dir, 2)
	t.Cleanup(func() {
		for _, id := range all {
			id.Kill()
		}
	})
	p.Stop(closer(p), unhurried)
	waitFor(t, "the end", p.ended)
	r.close(0)
	if runtime.GOOS == "linux" { // elsewhere it reaches nothing that has left its group
		awaitDead(t, all)
	}
	waitFor(t, "the reaper's end", r.exited)
}

// A child that does not carry the token is in its group.
func TestReaperEndsGroupsThatCloseLeaves(t *testing.T) {
	r, err := StartReaper()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run(t, r, append([]string{"env", "-i"}, script("ignore", "announce", dir, "hang")...)...)
	all := announced(t, dir, 1)
	r.Close()
	awaitDead(t, all)
	waitFor(t, "the reaper's end", r.exited)
}

func TestChildKnowsItsRuns(t *testing.T) {
	t.Setenv(tokensVar, "outer")
	r, err := StartReaper()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := runCommand(t, r, Command{
		Argv: []string{"sh", "-c", `echo "$TOOLMAN_GUARD"`},
		Env:  []string{tokensVar + "=stale", "PATH=" + os.Getenv("PATH")},
	})
	if got, want := readLine(t, p), "outer:"+r.token; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReaperIsToldOfEveryGroup(t *testing.T) {
	fds, err := pipeFDs()
	if err != nil {
		t.Fatal(err)
	}
	events := os.NewFile(uintptr(fds[0]), "events")
	defer events.Close()
	r := &Reaper{pipe: fds[1], exited: make(chan struct{})}
	p := run(t, r, "true")
	waitFor(t, "exit", p.Done())
	started := startTime(p.Pid())
	p.KillGroup()
	waitFor(t, "the end", p.ended)
	r.closePipe()
	got, err := io.ReadAll(events)
	if want := fmt.Sprintf("+%d@%d\n-%[1]d\n", p.Pid(), started); err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestReadEvents(t *testing.T) {
	for _, tt := range []struct {
		name, events string
		groups       map[int]uint64
		orderly      bool
	}{
		{"nothing", "", map[int]uint64{}, false},
		{"a group", "+12@345\n", map[int]uint64{12: 345}, false},
		{"a group that has ended", "+12@345\n+13@346\n-12\n", map[int]uint64{13: 346}, false},
		{"a number given anew", "+12@345\n-12\n+12@678\n", map[int]uint64{12: 678}, false},
		{"an orderly end", "+12@345\n-12\n.\n", nil, true},
		{"groups that mean everybody", "+0@1\n+1@1\n+-1@1\n+-12@1\n", map[int]uint64{}, false},
		{"cut in a number", "+12@345\n+", map[int]uint64{12: 345}, false},
		{"cut before the time", "+12@345\n+13", map[int]uint64{12: 345}, false},
		{"noise", "\n12\n?12@1\n+x@1\n+13@x\n", map[int]uint64{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			groups, orderly := readEvents(strings.NewReader(tt.events))
			if !maps.Equal(groups, tt.groups) || orderly != tt.orderly {
				t.Errorf("got %v %v, want %v %v", groups, orderly, tt.groups, tt.orderly)
			}
		})
	}
}

// A group whose number belongs to another since is left alone.
func TestReaperTellsGroupsApart(t *testing.T) {
	p := run(t, nil, script("ignore", "print", "up", "hang")...)
	readLine(t, p)
	started := startTime(p.Pid())
	if started == 0 {
		t.Skip("this system does not show when a process has started")
	}
	endRun(rand.Text(), map[int]uint64{p.Pid(): started - 1}, patience)
	if p.hasExited() {
		t.Error("a group was killed whose leader was started at another time")
	}
	endRun(rand.Text(), map[int]uint64{p.Pid(): started}, patience)
	waitFor(t, "exit", p.Done())
}

func TestReaperStartedByHandDoesNothing(t *testing.T) {
	if got := RunReaper([]string{"+2147483646@1"}, strings.NewReader("")); got != 2 {
		t.Errorf("got exit code %d, want 2", got)
	}
}
