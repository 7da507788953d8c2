package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolman/jsonrpc/trace/redact"
)

// written are the lines that a Writer has written when do is done with it.
func written(t *testing.T, o Options, do func(w *Writer)) []Line {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out, o)
	do(w)
	if err := w.Close(time.Minute); err != nil {
		t.Fatal(err)
	}
	return parse(t, out.Bytes())
}

func parse(t *testing.T, text []byte) (lines []Line) {
	t.Helper()
	in := bufio.NewScanner(bytes.NewReader(text))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var line Line
		dec := json.NewDecoder(bytes.NewReader(in.Bytes()))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&line); err != nil {
			t.Fatalf("%v: %s", err, in.Bytes())
		}
		lines = append(lines, line)
	}
	return lines
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestALineSaysWhoWhatAndWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		w := NewWriter(&out, Options{})
		d := w.Begin(Line{Agent: "a", Client: "c", Session: "s", Call: "c1", Method: "tools/call", Server: "fs", Kind: "tool", Name: "fs_read", Verdict: Allowed},
			func(Verdict) string { return `exposed_tools.fs has "<read>" (tools.toml:3)` }, time.Now(), []byte(`{"b":1.0,"a":"\u0041"}`))
		time.Sleep(1234567 * time.Nanosecond)
		d.End(OK)
		d.End(Failed) // it is over
		w.Begin(Line{Method: "tools/call", Verdict: Unknown}, nil, time.Now(), nil).End(Refused)
		w.Close(time.Minute)
		want := `{"time":"2000-01-01T00:00:00Z","agent":"a","client":"c","session":"s","call":"c1","method":"tools/call","server":"fs","kind":"tool","name":"fs_read",` +
			`"verdict":"allowed","rule":"exposed_tools.fs has \"<read>\" (tools.toml:3)","outcome":"ok","duration_ms":1.234,"arguments_sha256":"` + hash(`{"a":"A","b":1}`) + `"}` + "\n" +
			`{"time":"2000-01-01T00:00:00.001234Z","method":"tools/call","verdict":"unknown","outcome":"refused","duration_ms":0}` + "\n"
		if out.String() != want {
			t.Errorf("got\n%s, want\n%s", out.String(), want)
		}
	})
}

func TestWhatIsHashedAndWhatIsWrittenOfArguments(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", maxArguments) + `"}`
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	huge := `{"a":"` + strings.Repeat("x", maxCanonical) + `"}`
	for _, tt := range []struct{ name, arguments, canonical, asIs, shown string }{
		{"the order of members is nothing", `{"b":[1E1,true], "a":"\u00e9"}`, `{"a":"é","b":[10,true]}`, "", `{"b":[1E1,true],"a":"\u00e9"}`},
		{"a string", `"x"`, `"x"`, "", `"x"`},
		{"none", ``, "", "", ""},
		{"a key twice has no one meaning", `{"a":1,"a":2}`, "", `{"a":1,"a":2}`, `{"a":1,"a":2}`},
		{"a number without a double", `{"a":1e400}`, "", `{"a":1e400}`, `{"a":1e400}`},
		{"half a pair", `{"a":"\ud800"}`, "", `{"a":"\ud800"}`, `{"a":"\ud800"}`},
		{"bytes that are no text", "{\"a\":\"\xff\"}", "", "{\"a\":\"\xff\"}", `{"a":"` + "\uFFFD" + `"}`},
		{"a secret by its value", `{"a":"my s3cr3t-value"}`, `{"a":"my s3cr3t-value"}`, "", `{"a":"my [redacted]"}`},
		{"a number that is one", `{"a":12345678}`, `{"a":12345678}`, "", `{"a":"[redacted]"}`},
		{"a secret by its key", `{"api_key":"k"}`, `{"api_key":"k"}`, "", `{"api_key":"[redacted]"}`},
		{"too long to be shown", long, long, "", ""},
		{"too long for a canonical form", huge, "", huge, ""},
		{"deep", deep, deep, "", deep},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, shown := range []bool{false, true} {
				lines := written(t, Options{Arguments: shown, Scrub: redact.NewScrubber([]string{"s3cr3t-value", "12345678"})}, func(w *Writer) {
					w.Begin(Line{}, nil, time.Now(), []byte(tt.arguments)).End(OK)
				})
				got := lines[0]
				check := func(what, got, want string) {
					if want != "" && len(want) != 64 {
						want = hash(want)
					}
					if got != want {
						t.Errorf("%s is %s, want %s", what, got, want)
					}
				}
				check("arguments_sha256", got.ArgumentsSHA256, tt.canonical)
				check("arguments_bytes_sha256", got.ArgumentsBytesSHA256, tt.asIs)
				want := tt.shown
				if !shown {
					want = ""
				}
				if string(got.Arguments) != want {
					t.Errorf("arguments are %.200s, want %.200s", got.Arguments, want)
				}
			}
		})
	}
}

func TestSecretsInNames(t *testing.T) {
	lines := written(t, Options{Scrub: redact.NewScrubber([]string{"read", "s3cr3t-value"})}, func(w *Writer) {
		for _, line := range []Line{
			{Server: "fs", Kind: "tool", Name: "fs_read_file", Client: "c s3cr3t-value"},
			{Server: "fs", Kind: "resource", Name: "x://?t=s3cr3t-value"},
			{Kind: "tool", Name: "s3cr3t-value"},
			{Kind: "resource", Name: "x://" + strings.Repeat("é", maxName)},
		} {
			w.Begin(line, nil, time.Now(), nil).End(OK)
		}
	})
	for i, want := range []string{"fs_read_file", "x://?t=[redacted]", "[redacted]"} {
		if lines[i].Name != want {
			t.Errorf("line %d has the name %q, want %q", i, lines[i].Name, want)
		}
	}
	if lines[0].Client != "c [redacted]" {
		t.Errorf("the client is %q", lines[0].Client)
	}
	if n := len(lines[3].Name); n > maxName+len("…") || !strings.HasSuffix(lines[3].Name, "é…") {
		t.Errorf("a long name has %d bytes: %.20q", n, lines[3].Name)
	}
}

func TestAnotherDecision(t *testing.T) {
	lines := written(t, Options{}, func(w *Writer) {
		d := w.Begin(Line{Verdict: Allowed}, func(v Verdict) string { return "rule of " + string(v) }, time.Now(), nil)
		d.InUse(func() []string { return []string{"reading"} })
		d.Decide(Busy)
		d.End(Refused)
		d.Decide(Allowed)
	})
	if lines[0].Verdict != Busy || lines[0].Rule != "rule of busy" || len(lines[0].Toolsets) != 1 || len(lines) != 1 {
		t.Errorf("got %+v", lines)
	}
}

func TestNoWriterDoesNothing(t *testing.T) {
	var w *Writer
	d := w.Begin(Line{}, nil, time.Now(), []byte("{}"))
	d.Decide(Busy)
	d.End(OK)
	if err := w.Close(0); d != nil || err != nil {
		t.Errorf("got %v, %v", d, err)
	}
}

// A stuck writer takes nothing until it is let go.
type stuck struct {
	entered chan struct{}
	free    chan struct{}
	once    sync.Once
	out     bytes.Buffer
}

func (s *stuck) Write(p []byte) (int, error) {
	s.once.Do(func() { close(s.entered) })
	<-s.free
	return s.out.Write(p)
}

func TestASlowFileStopsNobodyAndLosesNothingUncounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stuck{entered: make(chan struct{}), free: make(chan struct{})}
		w := NewWriter(out, Options{Lines: 3})
		end := func(name string) { w.Begin(Line{Kind: "tool", Server: "s", Name: name}, nil, time.Now(), nil).End(OK) }
		end("first")
		<-out.entered
		for i := range 10 {
			end(fmt.Sprint(i)) // returns
		}
		close(out.free)
		synctest.Wait() // until there is room again
		end("last")
		w.Close(time.Minute)
		var got []string
		for _, line := range parse(t, out.out.Bytes()) {
			got = append(got, fmt.Sprintf("%s %d", line.Name, line.Dropped))
		}
		if want := "first 0, 0 0, 1 0, last 8"; strings.Join(got, ", ") != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestLinesThatAreMissingAtTheEndAreReported(t *testing.T) {
	out := &stuck{entered: make(chan struct{}), free: make(chan struct{})}
	w := NewWriter(out, Options{Lines: 1})
	for range 2 {
		w.Begin(Line{}, nil, time.Now(), nil).End(OK)
		<-out.entered
	}
	w.Begin(Line{}, nil, time.Now(), nil).End(OK)
	if err := w.Close(time.Millisecond); err == nil {
		t.Error("Close says nothing of a file that takes nothing")
	}
	w.Begin(Line{}, nil, time.Now(), nil).End(OK) // too late
	close(out.free)
	w.Close(time.Minute)
	lines := parse(t, out.out.Bytes())
	var dropped uint64
	for _, line := range lines {
		dropped += line.Dropped
	}
	if len(lines) != 2 || dropped != 2 {
		t.Errorf("%d lines and %d dropped: %+v", len(lines), dropped, lines)
	}
}

// A flaky output fails from time to time, within lines, too.
type flaky struct {
	out  bytes.Buffer
	take []int // bytes that it takes of each write; -1: all
}

func (f *flaky) Write(p []byte) (int, error) {
	n := len(p)
	if len(f.take) > 0 && f.take[0] >= 0 {
		n = min(n, f.take[0])
	}
	if len(f.take) > 0 {
		f.take = f.take[1:]
	}
	f.out.Write(p[:n])
	if n < len(p) {
		return n, errors.New("no space left")
	}
	return n, nil
}

func TestAFullDiskIsSaidOnceAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &flaky{take: []int{-1, 20, 0, -1}}
		var warned []error
		w := NewWriter(out, Options{Warn: func(err error) { warned = append(warned, err) }})
		for i := range 5 {
			w.Begin(Line{Kind: "tool", Server: "s", Name: fmt.Sprint(i)}, nil, time.Now(), nil).End(OK)
			synctest.Wait()
		}
		w.Close(time.Minute)
		if len(warned) != 1 || !strings.Contains(warned[0].Error(), "no space left") {
			t.Errorf("told %v", warned)
		}
		lines := strings.Split(strings.TrimSuffix(out.out.String(), "\n"), "\n")
		if len(lines) != 4 || json.Valid([]byte(lines[1])) {
			t.Fatalf("want the second line torn and ended: %q", lines)
		}
		got := parse(t, []byte(lines[0]+"\n"+lines[2]+"\n"+lines[3]))
		if got[0].Name != "0" || got[1].Name != "3" || got[1].Dropped != 2 || got[2].Name != "4" || got[2].Dropped != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

// Arguments of calls that are open are kept within bounds, and the room comes back.
func TestArgumentsAreKeptWithinBounds(t *testing.T) {
	lines := written(t, Options{Bytes: 10}, func(w *Writer) {
		first, second := w.Begin(Line{}, nil, time.Now(), []byte(`{"a":1}`)), w.Begin(Line{}, nil, time.Now(), []byte(`{"b":1}`))
		first.End(OK)
		second.End(OK)
		for w.bytes.Load() > 0 {
			time.Sleep(time.Millisecond)
		}
		w.Begin(Line{}, nil, time.Now(), []byte(`{"c":1}`)).End(OK)
	})
	if lines[0].ArgumentsSHA256 != hash(`{"a":1}`) || lines[1].ArgumentsSHA256 != "" || lines[2].ArgumentsSHA256 != hash(`{"c":1}`) {
		t.Errorf("got %+v", lines)
	}
}

func TestManyEndAtOnce(t *testing.T) {
	const each, many = 200, 8
	lines := written(t, Options{}, func(w *Writer) {
		var all sync.WaitGroup
		for range many {
			all.Go(func() {
				for range each {
					w.Begin(Line{Method: "m"}, nil, time.Now(), []byte(`{"a":1}`)).End(OK)
				}
			})
		}
		all.Wait()
	})
	if len(lines) != each*many {
		t.Errorf("%d lines, want %d", len(lines), each*many)
	}
}

func BenchmarkDecision(b *testing.B) {
	w := NewWriter(io.Discard, Options{Lines: 1 << 30})
	defer w.Close(time.Minute)
	line := Line{Agent: "a", Client: "c", Session: "s", Method: "tools/call", Server: "fs", Kind: "tool", Name: "fs_read", Verdict: Allowed}
	arguments := []byte(`{"path":"/tmp/x","head":10}`)
	b.ReportAllocs()
	for b.Loop() {
		w.Begin(line, func(Verdict) string { return "rule" }, time.Now(), arguments).End(OK)
	}
}

// A counter writes down what an Observer is told.
type counter struct{ told []string }

func (c *counter) Begun(l *Line) { c.told = append(c.told, "begun "+l.Name) }
func (c *counter) Ended(l *Line) {
	c.told = append(c.told, fmt.Sprint("ended ", l.Name, " ", l.Verdict, " ", l.Outcome, " ", l.DurationMS >= 1000))
}

func TestAnObserverIsToldOfEachDecisionOnce(t *testing.T) {
	var file strings.Builder
	for _, w := range []*Writer{nil, NewWriter(&file, Options{})} {
		heard := new(counter)
		w = Watch(w, heard)
		rule := func(Verdict) string { return "a rule" }
		a := w.Begin(Line{Name: "a", Verdict: Allowed}, rule, time.Now().Add(-time.Minute), []byte(`{"x":1}`))
		b := w.Begin(Line{Name: "b", Verdict: Denied}, nil, time.Now().Add(-time.Minute), nil)
		b.End(Refused)
		a.Decide(Confirmed)
		a.End(OK)
		a.End(Gone)
		if err := w.Close(time.Minute); err != nil {
			t.Error(err)
		}
		got := strings.Join(heard.told, ", ")
		if want := "begun a, begun b, ended b denied refused true, ended a confirmed ok true"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if n := strings.Count(file.String(), "\n"); n != 2 {
		t.Errorf("%d lines were written, want 2:\n%s", n, file.String())
	}
}

// What nobody will write is not kept.
func TestAWriterWithoutAFileKeepsNothing(t *testing.T) {
	w := Watch(nil, new(counter))
	for range 100 {
		w.Begin(Line{}, nil, time.Now(), []byte(`{"x":1}`)).End(OK)
	}
	if n := w.bytes.Load(); n != 0 {
		t.Errorf("%d bytes are kept", n)
	}
}
