package spawn

import (
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"toolman/fixtures/process"
)

// runWithEnv runs a process that hangs, with one more variable in its environment.
func runWithEnv(t *testing.T, entries ...string) *Process {
	t.Helper()
	p := runCommand(t, nil, Command{Argv: script("print", "up", "hang"), Env: Environ(os.Environ(), entries)})
	readLine(t, p)
	return p
}

func TestSweepTellsRunsApart(t *testing.T) {
	token, other := rand.Text(), rand.Text()
	for _, tt := range []struct {
		name    string
		entries []string
		found   bool
		killed  bool
	}{
		{"this run", []string{tokensVar + "=" + token}, true, true},
		{"an inner run", []string{tokensVar + "=" + token + ":" + other}, true, true},
		{"this run inside another", []string{tokensVar + "=" + other + ":" + token}, true, true},
		{"the reaper of an inner run", []string{tokensVar + "=" + token, reapingVar + "=" + other}, true, false},
		{"the reaper of this run", []string{reapingVar + "=" + token}, false, false},
		{"this run after much else", []string{"A=" + strings.Repeat("x", 100<<10), tokensVar + "=" + token}, true, true},
		{"another run", []string{tokensVar + "=" + other}, false, false},
		{"a longer token", []string{tokensVar + "=" + token + "0"}, false, false},
		{"the token in another variable", []string{"X" + tokensVar + "=" + token}, false, false},
		{"the token in a value", []string{"X=" + tokensVar + "=" + token}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := runWithEnv(t, tt.entries...)
			if got := newSweep(token, nil).inspect(p.Pid()) == remaining; got != tt.found {
				t.Errorf("found: got %v, want %v", got, tt.found)
			}
			if tt.killed {
				waitFor(t, "exit", p.Done())
			} else if p.hasExited() {
				t.Error("killed")
			}
			p.Stop(closer(p), brief)
		})
	}
}

func TestSweepKillsReapersInTheEnd(t *testing.T) {
	token := rand.Text()
	p := runWithEnv(t, tokensVar+"="+token, reapingVar+"="+rand.Text())
	s := newSweep(token, nil)
	s.reapers = true
	s.inspect(p.Pid())
	waitFor(t, "exit", p.Done())
}

func TestSweepGivesInnerReapersTimeToComeUp(t *testing.T) {
	t.Parallel()
	token := rand.Text()
	p := runWithEnv(t, tokensVar+"="+token, reapingVar+"="+rand.Text())
	if endRun(token, nil, endLimit/4) || p.hasExited() {
		t.Error("the reaper of an inner run was killed")
	}
}

func TestSweepSparesOtherUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can see the environment of another user's process, so there is nothing to spare")
	}
	token := rand.Text()
	p := runWithEnv(t, tokensVar+"="+token)
	s := newSweep(token, nil)
	s.uid = 12345
	if s.inspect(p.Pid()) != foreign {
		t.Error("root's process taken for user 12345's")
	}
}

func TestSweepReachesTheOwnSession(t *testing.T) {
	mine, err := StartReaper()
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	other, err := StartReaper()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	dir, spared := t.TempDir(), t.TempDir()
	p := run(t, mine, script("daemon", "ignore announce "+dir+" hang", "announce", dir, "eof")...)
	run(t, other, script("daemon", "announce "+spared+" hang", "announce", spared, "eof")...)
	all, others := announced(t, dir, 2), announced(t, spared, 2)
	p.Stop(closer(p), unhurried)
	waitFor(t, "the end", p.ended)
	if !mine.sweep(patience) {
		t.Error("something is left")
	}
	awaitDead(t, all)
	for _, id := range others {
		if !id.Alive() {
			t.Errorf("process %v of another run is dead", id)
		}
	}
}

// The kernel shows no environment of a process that changes its program.
func TestSweepMissesNoProcessThatChangesItsProgram(t *testing.T) {
	loop := filepath.Join(t.TempDir(), "loop")
	if err := os.WriteFile(loop, []byte(`exec sh "$0"`), 0o600); err != nil {
		t.Fatal(err)
	}
	token := rand.Text()
	p := runCommand(t, nil, Command{Argv: []string{"sh", loop}, Env: Environ(os.Environ(), []string{tokensVar + "=" + token})})
	s := newSweep(token, nil)
	eventually(t, "it carries the token", func() bool { carries, _ := s.hasToken(p.Pid()); return carries })
	unknown := 0
	for range 10_000 {
		carries, known := s.hasToken(p.Pid())
		if known && !carries {
			t.Fatal("it passes for a process of another run")
		}
		if !known {
			unknown++
		}
	}
	t.Logf("it was between two programs %d times", unknown)
	if !endRun(token, nil, patience) {
		t.Error("something is left")
	}
	waitFor(t, "exit", p.Done())
}

// Each process of this run starts another in a session of its own, and ends.
func TestSweepCatchesUpWithAChainOfDaemons(t *testing.T) {
	const text = `[ "$1" = 99900 ] && echo up; [ "$1" -gt 0 ] && setsid sh "$0" $(($1 - 1)) & exit`
	for range 10 { // a careless sweep misses some
		link := filepath.Join(t.TempDir(), "link")
		if err := os.WriteFile(link, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		token := rand.Text()
		p := runCommand(t, nil, Command{Argv: []string{"sh", link, "99910"}, Env: Environ(os.Environ(), []string{tokensVar + "=" + token})})
		readLine(t, p)
		if !endRun(token, nil, patience) {
			t.Error("something is left")
		}
		for range 20 {
			if links := carriers(t, token); len(links) > 0 {
				t.Fatalf("the chain goes on with %v", links)
			}
		}
	}
}

// carriers are the processes that carry a token.
func carriers(t *testing.T, token string) (all []string) {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	s := newSweep(token, nil)
	for _, name := range names {
		pid, _ := strconv.Atoi(filepath.Base(name))
		if carries, _ := s.hasToken(pid); carries {
			all = append(all, name)
		}
	}
	return all
}

// leaderless starts a group whose leader has ended and was reaped, and returns its number, when its
// leader was started, and its only member, which carries no token.
func leaderless(t *testing.T) (group int, started uint64, member process.ID) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(script()[0], script("fork", "ignore announce "+dir+" hang", "announce", dir, "eof")[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	all := announced(t, dir, 2)
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, id := range all {
		if id.Pid == cmd.Process.Pid {
			started = id.Start
		} else {
			member = id
		}
	}
	t.Cleanup(func() { member.Kill() })
	return cmd.Process.Pid, started, member
}

func TestReaperKillsAGroupWithoutItsLeader(t *testing.T) {
	group, started, member := leaderless(t)
	endRun(rand.Text(), map[int]uint64{group: started}, patience)
	awaitDead(t, []process.ID{member})
}

// Nobody who was started after the end is of a group that lived at the end.
func TestReaperSparesANewGroupWithoutItsLeader(t *testing.T) {
	group, started, member := leaderless(t)
	s := newSweep(rand.Text(), map[int]uint64{group: started})
	s.began = member.Start - 1
	if s.inspect(member.Pid) != foreign || !member.Alive() {
		t.Error("a member of a younger group was taken for one of the run")
	}
}
