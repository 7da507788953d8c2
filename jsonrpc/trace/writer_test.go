package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolman/jsonrpc/trace"
	"toolman/jsonrpc/trace/redact"
)

func TestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := write(t, trace.Options{MaxMsg: 40, Session: trace.Session{Run: "k3f9q", Toolman: "0.1.0", Upstreams: []trace.Server{{Name: "gh", PID: 7}}}}, func(w *trace.Writer) {
			time.Sleep(1500 * time.Microsecond)
			w.Frame(&trace.Frame{Leg: trace.Client, Peer: "claude", Dir: trace.In, Kind: trace.Request, Method: "tools/call", Name: "gh_x",
				ID: []byte(`7`), Call: 41, Msg: []byte(`{ "id":7, "a":"\u00e9é" }`)})
			w.Frame(&trace.Frame{Leg: trace.Upstream, Peer: "gh", Dir: trace.Out, Kind: trace.Request, Method: "tools/call", Name: "x",
				ID: []byte(`"a\/"`), Call: 41, Rewrote: []string{"id", "params.name"}, Verdict: "active", Rule: "gh_*", Msg: []byte("{\r\n}\r")})
			w.Frame(&trace.Frame{Leg: trace.Upstream, Dir: trace.In, Kind: trace.Response, Status: trace.StatusRPCError, Code: -32602, Call: 41,
				LegTime: 490853 * time.Microsecond, Msg: []byte("[" + strings.Repeat("1,", 30) + "1]")})
			w.Frame(&trace.Frame{Leg: trace.Client, Dir: trace.Out, Kind: trace.Response, Status: trace.StatusOK, Call: 41,
				TotalTime: 490994 * time.Microsecond, OwnTime: 141 * time.Microsecond, LegTime: -1, Msg: []byte("1")})
			w.Frame(&trace.Frame{Leg: trace.Client, Dir: trace.In, Kind: trace.Invalid, ID: []byte("no\ttoken"), Msg: []byte("{\x00\x1b[31m\u009b\"é")})
			w.Frame(&trace.Frame{Leg: trace.Client, Dir: trace.In, Kind: trace.Invalid, Msg: []byte("")})
			w.Event(trace.Event{Event: trace.EventStderr, Peer: "gh", Text: "rate limit", Call: 41})
		})
		at := func(us string) string {
			return `"ts":"2000-01-01T00:00:00.` + us + `Z","us":` + strings.TrimLeft(us, "0")
		}
		want := []string{
			`{"v":1,"seq":0,"t":"session",` + at("000000") + `0,"run":"k3f9q","toolman":"0.1.0","upstreams":[{"ns":"gh","pid":7}]}`,
			`{"v":1,"seq":1,"t":"frame",` + at("001500") + `,"leg":"client","peer":"claude","dir":"in","kind":"request","method":"tools/call","name":"gh_x","id":7,"call":"c41","bytes":26,"msg":{ "id":7, "a":"\u00e9é" }}`,
			`{"v":1,"seq":2,"t":"frame",` + at("001500") + `,"leg":"upstream","peer":"gh","dir":"out","kind":"request","method":"tools/call","name":"x","id":"a\/","call":"c41","rewrote":["id","params.name"],"verdict":"active","rule":"gh_*","bytes":5,"msg":{  } }`,
			`{"v":1,"seq":3,"t":"frame",` + at("001500") + `,"leg":"upstream","dir":"in","kind":"response","call":"c41","status":"rpc_error","code":-32602,"leg_us":490853,"bytes":63,"trunc":true,"text":"[` + strings.Repeat("1,", 19) + `1"}`,
			`{"v":1,"seq":4,"t":"frame",` + at("001500") + `,"leg":"client","dir":"out","kind":"response","call":"c41","status":"ok","total_us":490994,"own_us":141,"bytes":1,"msg":1}`,
			`{"v":1,"seq":5,"t":"frame",` + at("001500") + `,"leg":"client","dir":"in","kind":"invalid","id":"no\ttoken","bytes":12,"text":"{\u0000\u001b[31m\u009b\"é"}`,
			`{"v":1,"seq":6,"t":"frame",` + at("001500") + `,"leg":"client","dir":"in","kind":"invalid","bytes":0}`,
			`{"v":1,"seq":7,"t":"event",` + at("001500") + `,"peer":"gh","call":"c41","event":"stderr","text":"rate limit"}`,
		}
		if len(got) != len(want) {
			t.Fatalf("%d lines, want %d: %q", len(got), len(want), got)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("line %d\n got %s\nwant %s", i, got[i], want[i])
			}
		}
	})
}

func TestFrameIsCopied(t *testing.T) {
	msg, id := []byte(`{"a":1}`), []byte(`17`)
	line := write(t, trace.Options{}, func(w *trace.Writer) {
		w.Frame(&trace.Frame{Msg: msg, ID: id})
		copy(msg, "XXXXXXX")
		copy(id, "XX")
	})[1]
	if strings.Contains(line, "X") {
		t.Errorf("the caller's later writes show: %s", line)
	}
}

func TestNilWriterDoesNothing(t *testing.T) {
	var w *trace.Writer
	w.Frame(&trace.Frame{})
	w.Event(trace.Event{})
	if err := w.Close(0); err != nil {
		t.Error(err)
	}
}

// A stuck is an output that takes nothing until it is opened.
type stuck struct {
	open chan struct{}
	bytes.Buffer
}

func (s *stuck) Write(p []byte) (int, error) {
	<-s.open
	return s.Buffer.Write(p)
}

func TestStuckOutputDropsAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stuck{open: make(chan struct{})}
		w := trace.NewWriter(out, trace.Options{QueueBytes: 4000})
		synctest.Wait()
		for i := range 100 {
			w.Frame(&trace.Frame{Call: uint64(i + 1), Msg: []byte("1")})
		}
		close(out.open)
		synctest.Wait() // reported when there is room, not at the next frame
		w.Frame(&trace.Frame{Call: 1000, Msg: []byte("1")})
		if err := w.Close(time.Second); err != nil {
			t.Fatal(err)
		}
		kept, dropped, last := 0, uint64(0), uint64(0)
		for rec, err := range trace.Read(&out.Buffer) {
			switch {
			case err != nil:
				t.Fatal(err)
			case rec.Event == trace.EventDrop:
				dropped += rec.Count
				if rec.Seq != 101 {
					t.Errorf("the drop event has seq %d; the lost lines have 8 to 100", rec.Seq)
				}
			case rec.Type == trace.TypeFrame:
				kept++
			}
			last = max(last, rec.Seq)
		}
		if kept != 8 || dropped != 93 || last != 102 { // 4000 B hold 7 frames
			t.Errorf("kept %d, dropped %d, last seq %d; want 8, 93, 102", kept, dropped, last)
		}
	})
}

func TestCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stuck{open: make(chan struct{})}
		w := trace.NewWriter(out, trace.Options{})
		start := time.Now()
		if err := w.Close(50 * time.Millisecond); err == nil || time.Since(start) != 50*time.Millisecond {
			t.Errorf("Close returned %v after %v; want an error after 50ms", err, time.Since(start))
		}
		close(out.open)
	})
}

// A flaky output fails while broken; it may take a part of what it was given.
type flaky struct {
	mu     sync.Mutex
	broken bool
	takes  int
	bytes.Buffer
}

var errFull = errors.New("no space left on device")

func (f *flaky) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken {
		n := min(f.takes, len(p))
		f.Buffer.Write(p[:n])
		f.takes = 0
		return n, errFull
	}
	return f.Buffer.Write(p)
}

func (f *flaky) set(broken bool, takes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken, f.takes = broken, takes
}

func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := new(flaky)
		var warnings []error
		w := trace.NewWriter(out, trace.Options{Warn: func(err error) { warnings = append(warnings, err) }})
		frame := func() {
			w.Frame(&trace.Frame{Kind: trace.Request, Msg: []byte(`"payload"`)})
			synctest.Wait()
		}
		frame()
		out.set(true, 30) // a torn line
		frame()
		frame()
		out.set(false, 0)
		frame()
		if err := w.Close(time.Second); err != nil {
			t.Errorf("Close: %v", err)
		}
		if len(warnings) != 1 || !errors.Is(warnings[0], errFull) {
			t.Errorf("warnings: %v", warnings)
		}
		frames, lost, bad := 0, uint64(0), 0
		for rec, err := range trace.Read(&out.Buffer) {
			switch {
			case err != nil:
				bad++
			case rec.Type == trace.TypeFrame:
				frames++
			default:
				lost += rec.Count
			}
		}
		if frames != 2 || lost != 2 || bad != 1 {
			t.Errorf("%d frames, %d reported lost, %d torn lines; want 2, 2, 1\n%s", frames, lost, bad, out.String())
		}
	})
}

func TestCloseTellsWhatIsMissing(t *testing.T) {
	w := trace.NewWriter(&flaky{broken: true}, trace.Options{})
	w.Frame(&trace.Frame{Msg: []byte("1")})
	if err := w.Close(time.Minute); !errors.Is(err, errFull) {
		t.Errorf("Close: %v; want %v", err, errFull)
	}
}

// Many producers on a real pipe that is read only at the end: nobody waits, and what arrives is
// whole and in order.
func TestManyProducersOnAStuckPipe(t *testing.T) {
	r, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	secrets := redact.NewSecrets()
	w := trace.NewWriter(pipe, trace.Options{QueueBytes: 1 << 20, Secrets: secrets})
	var producers sync.WaitGroup
	for p := range 8 {
		producers.Go(func() {
			for i := range 500 {
				w.Frame(&trace.Frame{Peer: fmt.Sprint(p), Call: uint64(i + 1), Msg: bytes.Repeat([]byte{'1'}, 1000)})
				w.Event(trace.Event{Event: trace.EventStderr, Text: "x"})
				secrets.Add("secret-" + fmt.Sprint(i%10))
			}
		})
	}
	producers.Wait() // hangs if a producer waits for the pipe
	var closer sync.WaitGroup
	closer.Go(func() {
		if err := w.Close(time.Minute); err != nil {
			t.Error(err)
		}
		pipe.Close()
	})
	seen, lost, last := uint64(0), uint64(0), uint64(0)
	for rec, err := range trace.Read(r) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Seq < last {
			t.Fatalf("seq %d after %d", rec.Seq, last)
		}
		last = rec.Seq
		if lost += rec.Count; rec.Count == 0 && rec.Type != trace.TypeSession {
			seen++
		}
	}
	closer.Wait()
	if seen+lost != 8*1000 || lost == 0 {
		t.Errorf("%d seen and %d lost of 8000", seen, lost)
	}
}

func TestFrameAllocatesNothingWhenWarm(t *testing.T) {
	out := new(gate)
	w := trace.NewWriter(out, trace.Options{Secrets: redact.NewSecrets("hunter22")})
	defer w.Close(time.Minute)
	f := &trace.Frame{Leg: trace.Client, Peer: "p", Method: "tools/call", Name: "n", ID: []byte("1"), Call: 1,
		Rewrote: []string{"id"}, Msg: []byte(`{"a":"hunter\u00322","b":"{\"c\":\"d\"}","e":1}`)}
	for range 200 { // fills both batches and the renderer's buffers
		w.Frame(f)
		runtime.Gosched()
	}
	if n := testing.AllocsPerRun(1000, func() { w.Frame(f) }); n > 1 {
		t.Errorf("%v allocations a frame", n)
	}
}

// A gate is an output that takes everything.
type gate struct{}

func (*gate) Write(p []byte) (int, error) { return len(p), nil }

func TestOpenKeepsEarlierRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte("{\"t\":\"event\"}\n{\"t\":\"ev"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := trace.NewWriter(f, trace.Options{})
	if err := w.Close(time.Minute); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if lines := strings.Split(string(got), "\n"); err != nil || len(lines) != 4 || lines[1] != `{"t":"ev` || !strings.HasPrefix(lines[2], `{"v":1,"seq":0`) {
		t.Errorf("%v %q", err, lines)
	}
}

func TestOpenMakesAPrivateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	f, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestEventsOfTheDebugger(t *testing.T) {
	var out bytes.Buffer
	w := trace.NewWriter(&out, trace.Options{MaxMsg: 40, Secrets: redact.NewSecrets("hunter22")})
	id := []byte("7")
	d := &trace.Debugged{Hold: 3, Leg: trace.Upstream, Dir: trace.In, Kind: trace.Response, Method: "tools/call", Name: "read", ID: id, Done: trace.DoneEdited, Held: 2 * time.Second, Msg: []byte(`{"id":7,"result":"hunter22"}`)}
	w.Event(trace.Event{Event: trace.EventReleased, Peer: "fs", Text: "edited", Debugged: d})
	d.Msg = []byte(`{"id":7,"result":"` + strings.Repeat("x", 40) + `"}`)
	w.Event(trace.Event{Event: trace.EventReleased, Peer: "fs", Debugged: d})
	id[0] = '8'
	if err := w.Close(time.Minute); err != nil {
		t.Fatal(err)
	}
	var got []*trace.Record
	for r, err := range trace.Read(&out) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	r := got[1]
	if r.Event != "released" || r.Leg != trace.Upstream || r.Peer != "fs" || r.Dir != trace.In || r.Kind != trace.Response || r.Method != "tools/call" || r.Name != "read" ||
		string(r.ID) != "7" || r.Hold != 3 || r.Done != "edited" || r.HeldUS != 2e6 || r.Text != "edited" || strings.Contains(string(r.Line), "hunter22") || !strings.HasPrefix(string(r.Msg), `{"id":7,"result":"`) {
		t.Errorf("got %s", r.Line)
	}
	if r := got[2]; r.Msg != nil || !r.Trunc {
		t.Errorf("got %s", r.Line)
	}
}
