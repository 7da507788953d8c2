package engine

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/router/upstream"
)

// statuses are of two servers, the second of which is in this state.
func statuses(second upstream.State) []upstream.Status {
	const ten, sixty = 10 * time.Second, time.Minute
	return []upstream.Status{
		{Name: "fs", State: upstream.Ready, Took: 800 * time.Millisecond, StartTimeout: ten, Patience: sixty},
		{Name: "slow", State: second, Took: 12 * time.Second, StartTimeout: ten, Patience: sixty,
			Stderr: "first\nfetching\x1b\u202epackages", Problem: "it ended with exit status 3\nand more"},
	}
}

func TestProgressIsALineForEachChange(t *testing.T) {
	const (
		fs   = "toolman: server fs is ready after 0.80 s\n"
		late = "toolman: server slow is not ready within its start_timeout of 10s; waiting for it up to 1m0s; it last wrote: fetching packages\n"
	)
	for _, tt := range []struct {
		name  string
		quiet bool
		steps func(show func(second upstream.State, waited time.Duration))
		want  string
	}{
		{"ready in time", false, func(show func(upstream.State, time.Duration)) {
			show(upstream.Starting, time.Second)
			show(upstream.Starting, 9*time.Second)
			show(upstream.Ready, 9500*time.Millisecond)
			show(upstream.Ready, 11*time.Second)
		}, fs + "toolman: server slow is ready after 12.00 s\n"},
		{"late", false, func(show func(upstream.State, time.Duration)) {
			show(upstream.Starting, 10*time.Second)
			show(upstream.Starting, 11*time.Second)
			show(upstream.Ready, 12*time.Second)
		}, fs + late + "toolman: server slow is ready after 12.00 s\n"},
		{"gone", false, func(show func(upstream.State, time.Duration)) {
			show(upstream.Gone, 2*time.Second)
			show(upstream.Gone, 3*time.Second)
		}, fs + "toolman: server slow is gone after 2.00 s: it ended with exit status 3 and more\n"},
		{"one that each session has for itself", false, func(show func(upstream.State, time.Duration)) {
			show(upstream.PerSession, time.Second)
			show(upstream.PerSession, time.Hour)
		}, fs},
		{"ready in time, quietly", true, func(show func(upstream.State, time.Duration)) { show(upstream.Ready, time.Second) }, ""},
		{"gone in time, quietly", true, func(show func(upstream.State, time.Duration)) { show(upstream.Gone, time.Second) }, ""},
		{"late, quietly", true, func(show func(upstream.State, time.Duration)) {
			show(upstream.Starting, time.Minute)
			show(upstream.Ready, time.Minute)
		}, late + "toolman: server slow is ready after 12.00 s\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			p := &Progress{Live: &cli.Live{Out: &out}, quiet: tt.quiet}
			tt.steps(func(second upstream.State, waited time.Duration) { p.show(statuses(second), waited) })
			p.Draw(nil)
			if got := out.String(); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestProgressSaysThatAServerNeedsALogin(t *testing.T) {
	all := statuses(upstream.Gone)
	all[1].Login, all[1].Problem = "toolman login slow", "it needs a login, which a person makes: run toolman login slow"
	var out bytes.Buffer
	p := &Progress{Live: &cli.Live{Out: &out}}
	p.show(all, time.Second)
	if want := "toolman: server slow is not available: it needs a login, which a person makes: run toolman login slow\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestProgressOnATerminalTakesItsLinesAway(t *testing.T) {
	var out bytes.Buffer
	p := &Progress{Live: &cli.Live{Out: &out, Terminal: true, Rows: 24}, quiet: true}
	step := func(want string) {
		t.Helper()
		if got := out.String(); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		out.Reset()
	}
	const noWrap, wrap, up, erase = "\x1b[?7l", "\x1b[?7h", "\x1b[2F", "\x1b[J"
	p.show(statuses(upstream.Starting), progressDelay-1)
	step("") // it may be over in a moment
	p.show(statuses(upstream.Starting), 2*time.Second)
	step(noWrap + "  fs    ready          0.8 s  \n  slow  starting       2.0 s  fetching packages\n" + wrap)
	p.Write([]byte("a line of the log\n"))
	step(up + erase + "a line of the log\n")
	p.show(statuses(upstream.Starting), 12*time.Second)
	step(noWrap + "  fs    ready          0.8 s  \n  slow  starting      12.0 s  fetching packages\n" + wrap)
	p.show(statuses(upstream.Gone), 13*time.Second)
	step(up + erase + noWrap + "  fs    ready          0.8 s  \n  slow  gone          13.0 s  it ended with exit status 3 and more\n" + wrap)
	p.Draw(nil)
	step(up + erase)
	p.Draw(nil)
	step("")
}

// What is higher than the terminal could not be taken away.
func TestProgressFitsTheTerminal(t *testing.T) {
	var all []upstream.Status
	for i := range 30 {
		all = append(all, upstream.Status{Name: fmt.Sprint("s", i), State: upstream.State(i % 2), StartTimeout: time.Minute})
	}
	var out bytes.Buffer
	p := &Progress{Live: &cli.Live{Out: &out, Terminal: true, Rows: 12}}
	p.show(all, time.Second)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"+"\x1b[?7h"), "\n")
	if len(lines) != 11 || strings.Count(out.String(), "starting") != 10 || lines[10] != "  and 20 more" {
		t.Errorf("got\n%s", out.String())
	}
	out.Reset()
	if p.Draw(nil); !strings.HasPrefix(out.String(), "\x1b[11F") {
		t.Errorf("got %q", out.String())
	}
}
