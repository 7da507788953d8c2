package printer_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"toolman/cmd/internal/traces/printer"
)

var update = flag.Bool("update", false, "rewrite testdata/*.golden")

// run prints a trace and returns what went to stdout.
func run(t *testing.T, o printer.Options) string {
	t.Helper()
	var out, problems bytes.Buffer
	if err := printer.Run(t.Context(), o, &out, &problems); err != nil || problems.Len() > 0 {
		t.Fatalf("%v %s", err, problems.String())
	}
	return out.String()
}

func TestGolden(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    printer.Options
	}{
		{"calls", printer.Options{}},
		{"calls-verbose", printer.Options{Verbose: true, Filters: []string{"call:c41"}}},
		{"calls-color", printer.Options{Color: true}},
		{"calls-json", printer.Options{JSON: true}},
		{"frames", printer.Options{Frames: true}},
		{"frames-verbose", printer.Options{Frames: true, Verbose: true}},
		{"frames-json", printer.Options{Frames: true, JSON: true, Filters: []string{"call:41"}}},
		{"stats", printer.Options{Stats: true}},
		{"stats-json", printer.Options{Stats: true, JSON: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.File = "testdata/calls.jsonl"
			got, golden := run(t, tt.o), "testdata/"+tt.name+".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.ReplaceAll(string(want), "\r\n", "\n"); got != want { // git may have changed them
				t.Errorf("got\n%s\nwant (rewrite with -update)\n%s", got, want)
			}
		})
	}
}

// What the four frames of a call say together, however they are spread over the legs and mixed with
// other calls'.
func TestPairing(t *testing.T) {
	frame := func(us, leg, dir, kind, rest string) string {
		return `{"t":"frame","us":` + us + `,"leg":"` + leg + `","dir":"` + dir + `","kind":"` + kind + `",` + rest + "}\n"
	}
	for _, tt := range []struct{ name, trace, want string }{
		{"ids that repeat, calls that overlap",
			frame("10", "client", "in", "request", `"peer":"c","id":1,"call":"c1","method":"a"`) +
				frame("20", "upstream", "out", "request", `"peer":"u","id":1,"call":"c1","method":"a"`) +
				frame("30", "client", "in", "request", `"peer":"c","id":2,"call":"c2","method":"b"`) +
				frame("40", "upstream", "out", "request", `"peer":"v","id":1,"call":"c2","method":"b"`) +
				frame("50", "upstream", "in", "response", `"peer":"v","id":1,"call":"c2","status":"ok","leg_us":10`) +
				frame("60", "client", "out", "response", `"peer":"c","id":2,"call":"c2","status":"ok","total_us":30,"own_us":20`) +
				frame("70", "upstream", "in", "response", `"peer":"u","id":1,"call":"c1","status":"ok"`) +
				frame("90", "client", "out", "response", `"peer":"c","id":1,"call":"c1","status":"ok"`),
			"c2 c>v b ok total 30 own 20 peer 10\nc1 c>u a ok total 80 own 20 peer 60\n"},
		{"no numbers: by id, leg, peer and direction",
			frame("10", "client", "in", "request", `"peer":"c","id":1,"method":"a"`) +
				frame("20", "client", "out", "request", `"peer":"c","id":1,"method":"b"`) +
				frame("30", "upstream", "in", "request", `"peer":"u","id":1,"method":"d"`) +
				frame("40", "client", "in", "response", `"peer":"c","id":1,"status":"ok"`) +
				frame("50", "upstream", "out", "response", `"peer":"u","id":1,"status":"ok"`) +
				frame("60", "client", "out", "response", `"peer":"c","id":1,"status":"rpc_error","code":-1`),
			" toolman>c b ok total 20 own 0 peer 20\n u>toolman d ok total 20 own 20 peer 0\n c>toolman a rpc_error total 50 own 50 peer 0\n"},
		{"an id used twice at once leaves the first one pending",
			frame("10", "client", "in", "request", `"peer":"c","seq":1,"id":1,"method":"a"`) +
				frame("20", "client", "in", "request", `"peer":"c","seq":2,"id":1,"method":"b"`) +
				frame("30", "client", "out", "response", `"peer":"c","id":1,"status":"ok"`),
			" c>toolman b ok total 10 own 10 peer 0\n c>toolman a pending total 0 own 0 peer 0\n"},
		{"an answer after the cancellation replaces it",
			frame("10", "client", "in", "request", `"peer":"c","id":1,"call":"c1","method":"a"`) +
				frame("20", "upstream", "out", "notification", `"peer":"u","call":"c1","method":"notifications/cancelled"`) +
				frame("30", "client", "out", "response", `"peer":"c","id":1,"call":"c1","status":"timeout","total_us":20`),
			"c1 c>toolman a cancelled total 10 own 0 peer 0\nc1 c>toolman a timeout total 20 own 20 peer 0\n"},
		{"what the client is asked meanwhile is part of the call",
			frame("10", "client", "in", "request", `"peer":"c","id":1,"call":"c1","method":"a"`) +
				frame("20", "upstream", "out", "request", `"peer":"u","id":1,"call":"c1","method":"a"`) +
				frame("30", "upstream", "in", "response", `"peer":"u","id":1,"call":"c1","status":"ok","leg_us":10`) +
				frame("40", "client", "out", "request", `"peer":"c","id":7,"call":"c1","method":"b"`) +
				frame("45", "client", "out", "request", `"peer":"c","id":8,"call":"c1","method":"b"`) +
				frame("50", "client", "in", "response", `"peer":"c","id":7,"call":"c1","status":"ok"`) +
				frame("60", "client", "out", "notification", `"peer":"c","call":"c1","method":"notifications/cancelled"`) +
				frame("70", "upstream", "out", "request", `"peer":"u","id":2,"call":"c1","method":"a"`) +
				frame("80", "upstream", "in", "response", `"peer":"u","id":2,"call":"c1","status":"ok","leg_us":10`) +
				frame("90", "client", "out", "response", `"peer":"c","id":1,"call":"c1","status":"tool_error","total_us":80,"own_us":5`),
			"c1 c>u a tool_error total 80 own 5 peer 20\n"},
		{"what toolman asked a server that goes away is over",
			frame("10", "upstream", "out", "request", `"seq":1,"peer":"u","id":1,"call":"c1","method":"initialize"`) +
				frame("20", "upstream", "out", "request", `"seq":2,"peer":"v","id":1,"call":"c2","method":"initialize"`) +
				frame("30", "upstream", "out", "request", `"seq":3,"peer":"u","id":2,"call":"c3","method":"tools/list"`) +
				frame("40", "client", "in", "request", `"seq":4,"peer":"c","id":1,"call":"c4","method":"a"`) +
				frame("50", "upstream", "out", "request", `"seq":5,"peer":"u","id":3,"call":"c4","method":"a"`) +
				`{"t":"event","us":60,"peer":"u","event":"gone","text":"it ended"}` + "\n" +
				frame("70", "client", "out", "response", `"peer":"c","id":1,"call":"c4","status":"rpc_error","total_us":30`),
			"c1 toolman>u initialize gone total 50 own 0 peer 0\nc3 toolman>u tools/list gone total 30 own 0 peer 0\n" +
				"c4 c>u a rpc_error total 30 own 30 peer 0\nc2 toolman>v initialize pending total 0 own 0 peer 0\n"},
		{"a new run begins anew",
			frame("10", "client", "in", "request", `"peer":"c","id":1,"call":"c1","method":"a"`) +
				`{"t":"session","run":"x"}` + "\n" +
				frame("30", "client", "out", "response", `"peer":"c","id":1,"call":"c1","status":"ok"`),
			"c1 c>toolman a pending total 0 own 0 peer 0\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := callLines(t, tt.trace); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

func TestWhatPeersSendIsPrintedHarmless(t *testing.T) {
	const evil = "\u001b[2J\u009b31m\u202egnp.exe\u200b\r\u0007"
	quoted := `"\u001b[2J\u009b31m\u202egnp.exe\u200b\r\u0007"`
	raw := "\"\u009b31m\u202e\u200b\u007f\""
	in := `{"t":"session","run":` + quoted + `,"upstreams":[{"ns":` + quoted + `,"cmd":` + quoted + `}]}
{"t":"frame","leg":"client","peer":` + quoted + `,"dir":"in","kind":"request","method":` + quoted + `,"name":` + quoted + `,"id":1,"call":"c1","msg":{"a":` + raw + `}}
{"t":"frame","leg":"upstream","peer":` + quoted + `,"dir":"in","kind":"invalid","rule":` + quoted + `,"text":` + quoted + `,"raw":"Gxsb/w=="}
{"t":"frame","leg":"client","peer":"c","dir":"out","kind":"response","method":` + quoted + `,"id":1,"call":"c1","status":"rpc_error","verdict":` + quoted + `,"msg":{"error":{"message":` + quoted + `}}}
{"t":"event","peer":` + quoted + `,"event":"stderr","text":` + quoted + `}
`
	for _, o := range []printer.Options{{Verbose: true}, {Frames: true, Verbose: true}, {JSON: true, Verbose: true}, {Frames: true, JSON: true}, {Stats: true}, {Stats: true, JSON: true}} {
		o.File, o.Stdin = "-", strings.NewReader(in)
		got := run(t, o)
		if strings.ContainsAny(strings.ReplaceAll(got, "\n", ""), evil[:1]+"\u009b\u202e\u200b\r\u0007\u007f") || !utf8.ValidString(got) || got == "" {
			t.Errorf("%+v prints it raw: %q", o, got)
		}
	}
}

func TestBadLinesAreReportedAndSkipped(t *testing.T) {
	var out, problems bytes.Buffer
	in := "a log line \x1b[0m\n{\"t\":\"event\",\"event\":\"ready\",\"peer\":\"gh\"}\n{\"t\n"
	err := printer.Run(context.Background(), printer.Options{File: "-", Stdin: strings.NewReader(in)}, &out, &problems)
	const want = "toolman: -:1 is skipped: invalid character 'a' looking for beginning of value\ntoolman: -: 2 lines in all are no trace records and were skipped\n"
	if err != nil || problems.String() != want || !strings.Contains(out.String(), "ready") {
		t.Errorf("%v\nproblems %q\nwant     %q\nout %q", err, problems.String(), want, out.String())
	}
}
