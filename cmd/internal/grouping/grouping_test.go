package grouping

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"toolman/router/audit"
)

// lines are the calls of some sessions, each with the names of its tools.
func lines(sessions ...string) (all []audit.Line) {
	for i, tools := range sessions {
		for _, name := range strings.Fields(tools) {
			all = append(all, audit.Line{Session: fmt.Sprint("s", i), Method: "tools/call", Kind: "tool", Server: "s", Name: name, Outcome: audit.OK})
		}
	}
	return all
}

func usage(lines []audit.Line) *Usage {
	u := New()
	for i := range lines {
		u.Add(&lines[i])
	}
	return u
}

func everything(string) bool { return true }

func TestToolsOfTheSameSessionsAreAGroup(t *testing.T) {
	all := lines("git_status git_commit git_diff web_search", "git_status git_commit git_diff", "git_status git_commit git_diff git_diff",
		"web_search fs_read", "web_search fs_read", "fs_read", "once_a once_b", "gone_a gone_b", "gone_a gone_b")
	want := []*Group{{[]string{"git_commit", "git_diff", "git_status"}, 3}, {[]string{"fs_read", "web_search"}, 2}}
	keep := func(name string) bool { return !strings.HasPrefix(name, "gone_") }
	for range 20 { // in any order
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		u := usage(all)
		if got := u.Groups(keep); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if u.Sessions() != 9 || u.Calls != len(all) || u.CallsOf("git_diff") != 4 || u.Ignored != 0 {
			t.Errorf("got %d sessions, %d calls, %d of git_diff", u.Sessions(), u.Calls, u.CallsOf("git_diff"))
		}
	}
}

// A chain in which only neighbours are used together is no one group.
func TestAChainIsNoGroup(t *testing.T) {
	u := usage(lines("a b", "a b", "a b", "b c", "b c", "b c"))
	for _, g := range u.Groups(everything) {
		if len(g.Tools) > 2 {
			t.Errorf("got %v", g)
		}
	}
}

func TestWhatCounts(t *testing.T) {
	at := time.Date(2026, 11, 1, 10, 59, 0, 0, time.UTC)
	call := audit.Line{Time: at, Client: "c", Method: "tools/call", Kind: "tool", Server: "s", Name: "s_a", Outcome: audit.ToolError}
	other, later, own, refused, read := call, call, call, call, call
	other.Name = "s_b"
	later.Time = at.Add(time.Minute) // another hour, without a session
	own.Server, refused.Outcome, read.Method = "toolman", audit.Refused, "resources/read"
	u := usage([]audit.Line{call, other, later, own, refused, read})
	if u.Calls != 3 || u.Sessions() != 2 || !reflect.DeepEqual(u.Names(), []string{"s_a", "s_b"}) {
		t.Errorf("got %d calls, %d sessions, %q", u.Calls, u.Sessions(), u.Names())
	}
}

func TestMemoryIsBounded(t *testing.T) {
	u := New()
	for i := range maxSessions + 10 {
		for j := range 3 {
			u.Add(&audit.Line{Session: fmt.Sprint(i), Method: "tools/call", Kind: "tool", Server: "s", Name: fmt.Sprint("t", (i*3+j)%(2*maxNames))})
		}
	}
	for i := range 2 * maxPerOne {
		u.Add(&audit.Line{Session: "0", Method: "tools/call", Kind: "tool", Server: "s", Name: fmt.Sprint("t", i)})
	}
	if len(u.sessions) > maxSessions || len(u.calls) > maxNames || len(u.sessions["\n0"]) > maxPerOne || u.Ignored == 0 {
		t.Errorf("%d sessions, %d names, %d in one, %d ignored", len(u.sessions), len(u.calls), len(u.sessions["\n0"]), u.Ignored)
	}
	if got := u.Groups(everything); len(got) > maxGroups {
		t.Errorf("%d groups", len(got))
	}
}
