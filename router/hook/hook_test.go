//go:build unix

package hook

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"toolman/fixtures/process"
	"toolman/router/toolset"
	"toolman/spawn"
)

func shell(script string) *Command {
	return &Command{Name: "on_equip", Command: spawn.Command{Argv: []string{"/bin/sh", "-c", script}, Env: os.Environ()}}
}

func newRunner(t *testing.T) (*Runner, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zap.InfoLevel)
	r := NewRunner(zap.New(core), nil)
	t.Cleanup(r.Close)
	return r, logs
}

// idle waits until nothing runs or waits.
func idle(t *testing.T, r *Runner) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		r.mu.Lock()
		working := r.working
		r.mu.Unlock()
		if !working {
			return
		}
	}
	t.Fatal("commands still run")
}

func TestACommandGetsTheEventAndNothingElse(t *testing.T) {
	r, logs := newRunner(t)
	out := filepath.Join(t.TempDir(), "out")
	name := "x'; touch " + filepath.Join(filepath.Dir(out), "pwned") + "; $(id) `id`"
	e := EquippedBy(&toolset.Expansion{Set: &toolset.Set{Name: name}, Tools: map[string]bool{"b": true, "a": true},
		Resolutions: []toolset.Resolution{{Of: "c", Problem: "Tool not found: c"}}}, "agent", "cli\x1bent\n")
	r.Equipped(shell("cat >> "+out+"; echo said; echo $# $0; echo wrong >&2; exit 3"), e)
	r.Equipped(shell("cat >> "+out), e)
	idle(t, r)
	text, err := os.ReadFile(out)
	if err != nil || strings.Count(string(text), "\n") != 2 {
		t.Fatalf("got %q, %v", text, err)
	}
	var got Equipped
	if err := json.Unmarshal([]byte(strings.SplitN(string(text), "\n", 2)[0]), &got); err != nil || got.Event != "equip" || got.Toolset != name || got.Time.IsZero() ||
		got.Agent != "agent" || strings.Contains(got.Client, "\x1b") || fmt.Sprint(got.Tools) != "[a b]" || fmt.Sprint(got.Warnings) != "[1 tool is not there]" {
		t.Errorf("got %s, %v", text, err)
	}
	if left, _ := filepath.Glob(filepath.Dir(out) + "/*"); len(left) != 1 {
		t.Errorf("there are %q", left)
	}
	var said []string
	for _, entry := range logs.All() {
		said = append(said, entry.Message+fmt.Sprint(entry.ContextMap()["err"]))
	}
	all := strings.Join(said, "\n")
	for _, want := range []string{"said", "wrong", "0 /bin/sh", "a command for toolsets failedit ended with exit status 3"} {
		if !strings.Contains(all, want) {
			t.Errorf("the log has\n%s\nwant %q", all, want)
		}
	}
}

// The log may be slow, as on a busy machine: all that a command has printed is there before the next
// one runs.
func TestAllThatACommandPrintsIsLogged(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	slow := zap.Hooks(func(zapcore.Entry) error { time.Sleep(300 * time.Millisecond); return nil })
	r := NewRunner(zap.New(core, slow), nil)
	t.Cleanup(r.Close)
	r.Equipped(shell("for i in 1 2 3; do printf 'out %d %04000d\\n' $i 0; echo err $i >&2; done"), Equipped{})
	idle(t, r)
	for _, line := range []string{"out 1", "out 2", "out 3", "err 1", "err 2", "err 3"} {
		if logs.FilterMessageSnippet(line).Len() != 1 {
			t.Errorf("%q is not logged", line)
		}
	}
}

// A command that does not read its input, never ends, prints without end, or leaves processes
// behind, keeps nothing: neither those who wait for a later one, nor a process.
func TestCommandsThatMisbehaveAreEnded(t *testing.T) {
	big := Equipped{Tools: []string{strings.Repeat("x", 1<<20)}}
	for name, script := range map[string]string{
		"it never ends":                "trap '' TERM; while :; do sleep 1; done",
		"it prints without end":        "yes",
		"a process stays in its group": "sleep 1000 & echo $! >> $PIDS; exit 0",
		"it does not read":             "exit 0",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, logs := newRunner(t)
			r.limit = 2 * time.Second
			done := filepath.Join(t.TempDir(), "done")
			r.Equipped(shell("PIDS="+done+".pid; echo $$ > $PIDS; "+script), big)
			var ids []process.ID
			for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && len(ids) == 0; time.Sleep(time.Millisecond) {
				text, _ := os.ReadFile(done + ".pid")
				if !strings.HasSuffix(string(text), "\n") {
					continue
				}
				for line := range strings.Lines(string(text)) {
					pid, _ := strconv.Atoi(strings.TrimSpace(line))
					if id, err := process.Of(pid); err == nil {
						ids = append(ids, id)
					} else {
						ids = append(ids, process.ID{Pid: pid}) // it has ended
					}
				}
			}
			idle(t, r)
			for _, id := range ids {
				for deadline := time.Now().Add(time.Minute); id.Alive(); time.Sleep(time.Millisecond) {
					if time.Now().After(deadline) { // it was killed, which may take a moment
						t.Fatalf("%s is left", id.Describe())
					}
				}
			}
			r.limit = mostTime
			r.Equipped(shell("touch "+done), Equipped{})
			idle(t, r)
			if _, err := os.Stat(done); err != nil {
				t.Error(err)
			}
			if logs.Len() > 2*maxLines {
				t.Errorf("%d lines in the log", logs.Len())
			}
		})
	}
}

func TestEventsThatWaitAreBoundedAndCloseDropsThem(t *testing.T) {
	r, logs := newRunner(t)
	out := filepath.Join(t.TempDir(), "out")
	r.Equipped(shell("touch "+out+"; exec sleep 1000"), Equipped{})
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(out); err == nil {
			break
		}
	}
	for range maxQueue + 10 {
		r.Equipped(shell("echo more >> "+out), Equipped{})
	}
	r.mu.Lock()
	if len(r.queue) != maxQueue || r.dropped != 10 {
		t.Errorf("%d wait, %d were dropped", len(r.queue), r.dropped)
	}
	r.mu.Unlock()
	r.Close()
	r.Equipped(shell("echo late >> "+out), Equipped{})
	r.Close()
	if text, _ := os.ReadFile(out); len(text) > 0 {
		t.Errorf("ran %q", text)
	}
	if logs.FilterMessageSnippet("too many events waited").Len() != 1 {
		t.Errorf("the log has %v", logs.All())
	}
	var none *Runner
	none.Equipped(shell("exit 0"), Equipped{})
	none.Catalog(shell("exit 0"), nil, nil, true)
	none.Close()
}

func TestWhatHasDrifted(t *testing.T) {
	x := &toolset.Expansion{Set: &toolset.Set{}}
	for o := toolset.Match; o <= toolset.Broken; o++ {
		x.Resolutions = append(x.Resolutions, toolset.Resolution{Of: o.String(), Outcome: o, Problem: "p"})
	}
	names := func(complete bool) (names string) {
		for _, tool := range driftOf(x, complete) {
			names += tool.Name + " "
		}
		return names
	}
	if got := names(true); got != "changed renamed split ambiguous alike " {
		t.Errorf("got %s", got)
	}
	if got := names(false); got != "changed split " { // the others may be of servers that are not there yet
		t.Errorf("with servers missing: got %s", got)
	}
}
