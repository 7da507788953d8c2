package calllog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/router/budget"
)

// written are records of a server as it writes them.
func written(records ...string) string { return strings.Join(records, "\n") + "\n" }

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// shown are entries as tool, input and who has recorded them.
func shown(all []Entry) (lines []string) {
	for _, e := range all {
		lines = append(lines, fmt.Sprintf("%s %s %s", e.Tool, e.Input, e.RecordedBy))
	}
	return lines
}

func TestACallAndItsRecordAreOneEntry(t *testing.T) {
	const earlier = `{"timestamp":"2000-01-01T00:00:00Z","tool":"get","input":{"a":1}}` // synctest begins then
	for _, tt := range []struct {
		name  string
		calls []Call
		file  string
		want  []string
	}{
		{"one of each", []Call{{Tool: "get", Input: []byte(`{"b":[1.0],"a":"\u0041"}`)}},
			written(`{"timestamp":"2000-01-01T00:00:10Z","tool":"get","input":{"a":"A","b":[1]}}`),
			[]string{`get {"b":[1.0],"a":"\u0041"} both`}},
		{"no arguments are an empty object", []Call{{Tool: "get"}, {Tool: "get", Input: []byte(`{}`)}},
			written(`{"timestamp":"2000-01-01T00:00:10Z","tool":"get","input":{}}`, `{"timestamp":"2000-01-01T00:00:10Z","tool":"get"}`),
			[]string{`get null both`, `get {} both`}},
		{"as many as there are", []Call{{Tool: "get", Input: []byte(`{"a":1}`)}, {Tool: "get", Input: []byte(`{"a":1}`)}},
			written(`{"timestamp":"2000-01-01T00:00:10Z","tool":"get","input":{"a":1}}`),
			[]string{`get {"a":1} both`, `get {"a":1} toolman`}},
		{"another tool, another input", []Call{{Tool: "get", Input: []byte(`{"a":1}`)}},
			written(`{"timestamp":"2000-01-01T00:00:12Z","tool":"put","input":{"a":1}}`, `{"timestamp":"2000-01-01T00:00:12Z","tool":"get","input":{"a":2}}`),
			[]string{`get {"a":1} toolman`, `put {"a":1} server`, `get {"a":2} server`}},
		{"a wrong clock", []Call{{Tool: "get", Input: []byte(`{"a":1}`)}},
			written(`{"timestamp":"1999-01-01T00:00:00Z","tool":"get","input":{"a":1}}`), []string{`get {"a":1} both`}},
		{"a record with the time of the call comes before one with a wrong clock", []Call{{Tool: "get", Input: []byte(`{"a":1}`)}},
			written(`{"timestamp":"1999-12-31T00:00:00Z","tool":"get","input":{"a":1}}`, `{"timestamp":1_}`, `{"timestamp":"2000-01-01T00:00:11Z","tool":"get","input":{"a":1}}`),
			[]string{`get {"a":1} server`, `get {"a":1} both`}},
		{"a call that no server had", []Call{{Tool: "get", Input: []byte(`{"a":1}`), Error: []byte(`{"code":"denied"}`)}},
			written(`{"timestamp":"2000-01-01T00:00:12Z","tool":"get","input":{"a":1}}`), []string{`get {"a":1} toolman`, `get {"a":1} server`}},
		{"too long", []Call{{Tool: "get", InputCut: true}},
			written(`{"timestamp":"2000-01-01T00:00:10Z","tool":"get","input":"` + strings.Repeat("x", MaxContent) + `"}`), []string{`get null both`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "calls.jsonl")
			appendTo(t, path, written(earlier))
			synctest.Test(t, func(t *testing.T) {
				l, file := New(Options{}), File{"s", path}
				l.Use(file)
				began := time.Now()
				time.Sleep(10 * time.Second)
				appendTo(t, path, tt.file)
				l.Use(file) // again, after a reload
				for _, c := range tt.calls {
					c.Server, c.Began, c.Sent = "s", began, c.Error == nil
					l.Add(&c)
					time.Sleep(time.Millisecond)
				}
				got := shown(l.Find(Query{Limit: 10, Files: []File{file}}))
				want := append([]string{`get {"a":1} server`}, tt.want...)
				if tt.name == "a record with the time of the call comes before one with a wrong clock" {
					want = []string{tt.want[0], `get {"a":1} server`, tt.want[1]}
				}
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		})
	}
}

func TestAFileOfTwoServersIsReadOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	l := New(Options{})
	files := []File{{"a", path}, {"b", path}}
	for _, f := range files {
		l.Use(f)
	}
	l.Add(&Call{Server: "b", Tool: "get", Began: time.Now(), Sent: true})
	now := time.Now().Format(time.RFC3339Nano)
	appendTo(t, path, written(`{"timestamp":"`+now+`","tool":"get"}`, `{"timestamp":"`+now+`","tool":"other"}`))
	var got []string
	for _, e := range l.Find(Query{Limit: 10, Files: files}) {
		got = append(got, e.Server+" "+e.Tool+" "+e.RecordedBy)
	}
	if strings.Join(got, ", ") != "b get both, a other server" {
		t.Errorf("got %q", got)
	}
}

func TestALogThatWasEmptiedIsNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	appendTo(t, path, written(strings.Repeat("x", 1000)))
	l, file := New(Options{}), File{"s", path}
	l.Use(file)
	l.Add(&Call{Server: "s", Tool: "get", Began: time.Now(), Sent: true})
	if err := os.WriteFile(path, []byte(written(`{"timestamp":"`+time.Now().Format(time.RFC3339Nano)+`","tool":"get"}`)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := shown(l.Find(Query{Limit: 10, Files: []File{file}})); len(got) != 1 || got[0] != "get null both" {
		t.Errorf("got %q", got)
	}
}

func TestSinceAndLimitCountCalls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	synctest.Test(t, func(t *testing.T) {
		l, file := New(Options{}), File{"s", path}
		l.Use(file)
		mine := budget.Principal{Issuer: "me"}
		for i := range 10 {
			l.Add(&Call{Server: "s", Tool: fmt.Sprint(i), Began: time.Now(), Sent: true, Principal: mine, Agent: "me"})
			appendTo(t, path, fmt.Sprintf(`{"timestamp":%q,"tool":"%d"}`+"\n", time.Now().Format(time.RFC3339Nano), i))
			time.Sleep(time.Second)
		}
		for _, tt := range []struct {
			q    Query
			want string
		}{
			{Query{Limit: 3, Files: []File{file}}, "7 8 9"},
			{Query{Limit: 10, Files: []File{file}, Since: time.Now().Add(-2 * time.Second)}, "8 9"},
			{Query{Limit: 3, Of: &mine}, "7 8 9"},
			{Query{Limit: 3, Of: &budget.Principal{}}, ""},
			{Query{Limit: 3, Server: "other", Files: []File{file}}, ""},
		} {
			var got []string
			for _, e := range l.Find(tt.q) {
				got = append(got, e.Tool)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%+v: got %q, want %s", tt.q, got, tt.want)
			}
		}
	})
}

// Who guesses the name of a tool that it may not have does not learn whose it is.
func TestADeniedCallDoesNotNameItsServerToTheCaller(t *testing.T) {
	who := budget.Principal{Issuer: "bob"}
	l := New(Options{})
	l.Add(&Call{Server: "payroll", Tool: "wipe", Asked: "wipe", Principal: who, Error: []byte(`{"message":"denied"}`)})
	l.Add(&Call{Server: "fs", Tool: "look", Principal: who})
	own, all := l.Find(Query{Limit: 9, Of: &who}), l.Find(Query{Limit: 9})
	if len(own) != 2 || own[0].Server != "" || own[0].Tool != "wipe" || own[1].Server != "fs" {
		t.Errorf("the caller reads %+v", own)
	}
	if len(l.Find(Query{Limit: 9, Of: &who, Server: "payroll"})) != 0 {
		t.Error("the caller finds its call by the name of the server")
	}
	if len(all) != 2 || all[0].Server != "payroll" {
		t.Errorf("a reader of all calls reads %+v", all)
	}
}
