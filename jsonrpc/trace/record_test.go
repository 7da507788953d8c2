package trace_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"toolman/jsonrpc/trace"
)

func TestReadSession(t *testing.T) {
	line := `{"v":1,"seq":0,"t":"session","ts":"2026-11-21T07:23:13.120000Z","us":0,"run":"k3f9q","toolman":"0.4.0","client":null,"config_sha":"x","upstreams":[{"ns":"gh","cmd":"npx","pid":42}]}`
	for rec, err := range trace.Read(strings.NewReader(line)) {
		if err != nil {
			t.Fatal(err)
		}
		want := trace.Server{Name: "gh", Command: "npx", PID: 42}
		if rec.Session == nil || rec.Session.Run != "k3f9q" || !slices.Equal(rec.Session.Upstreams, []trace.Server{want}) || rec.Time.Nanosecond() != 120e6 {
			t.Errorf("%+v %+v", rec, rec.Session)
		}
	}
}

func TestReadGoesOnBehindGarbage(t *testing.T) {
	const in = "\n" +
		"toolman: a log line\n" +
		`{"t":"frame","seq":1,"msg": {"a":1} ,"unknown":[1]}` + "\r\n" +
		`{"level":"info","msg":"a log line of another kind"}` + "\n" +
		`{"t":"frame","seq":"one"}` + "\n" +
		`{"t":"future","seq":2}` + "\n" +
		`{"t":"frame","seq":3,"te`
	var got []string
	for rec, err := range trace.Read(iotest.OneByteReader(strings.NewReader(in))) {
		lineErr, ok := errors.AsType[*trace.LineError](err)
		switch {
		case ok && errors.Is(err, trace.ErrTorn):
			got = append(got, "torn")
		case ok:
			got = append(got, "bad "+string(rune('0'+lineErr.Line)))
		case err != nil:
			t.Fatal(err)
		default:
			got = append(got, rec.Type+string(rec.Msg))
		}
	}
	if want := []string{"bad 2", `frame{"a":1}`, "bad 4", "bad 5", "future", "torn"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReadTakesALastLineWithoutItsEnd(t *testing.T) {
	n := 0
	for _, err := range trace.Read(strings.NewReader("{\"t\":\"event\"}\n{\"t\":\"event\"}")) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d records", n)
	}
}

func TestReadEndsWithTheReadersError(t *testing.T) {
	var last error
	for _, err := range trace.Read(io.MultiReader(strings.NewReader("{\"t\":\"event\"}\n"), iotest.ErrReader(errFull))) {
		last = err
	}
	if last != errFull {
		t.Errorf("got %v", last)
	}
}

// Whatever the bytes, reading ends, records have a type, and a record's line read again is the same
// record.
func FuzzRead(f *testing.F) {
	f.Add([]byte("{\"t\":\"frame\",\"seq\":1,\"msg\":{}}\n{\"t\":\"session\"}\ngarbage\n{\"t\":"))
	f.Add([]byte("{\"v\":1,\"seq\":59,\"t\":\"event\",\"ts\":\"2026-11-21T07:23:13.431207Z\",\"us\":802260,\"peer\":\"gh\",\"event\":\"stderr\",\"text\":\"x\"}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		lines := bytes.Count(in, []byte("\n")) + 1
		for rec, err := range trace.Read(bytes.NewReader(in)) {
			if lines--; lines < 0 {
				t.Fatal("more records than lines")
			}
			if err != nil {
				if _, ok := errors.AsType[*trace.LineError](err); !ok || rec != nil {
					t.Fatalf("%v with %v", err, rec)
				}
				continue
			}
			if rec.Type == "" {
				t.Fatalf("no type: %q", rec.Line)
			}
			for again, err := range trace.Read(bytes.NewReader(rec.Line)) {
				if err != nil || again.Seq != rec.Seq || again.Type != rec.Type || !bytes.Equal(again.Msg, rec.Msg) {
					t.Fatalf("%q read again: %+v %v", rec.Line, again, err)
				}
			}
		}
	})
}
