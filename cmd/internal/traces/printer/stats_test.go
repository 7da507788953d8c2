package printer_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolman/cmd/internal/traces/printer"
)

func TestStatsPercentiles(t *testing.T) {
	for _, tt := range []struct {
		name string
		n    int // calls that took 1 to n microseconds
		want [4]int64
	}{
		{"one", 1, [4]int64{1, 1, 1, 1}},
		{"two", 2, [4]int64{1, 2, 2, 1}},
		{"twenty", 20, [4]int64{10, 19, 20, 10}},
		{"a hundred", 100, [4]int64{50, 95, 99, 50}},
		{"a thousand", 1000, [4]int64{500, 950, 990, 500}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var in strings.Builder
			for i := tt.n; i > 0; i-- { // the slowest first
				writeCall(&in, i)
			}
			out := run(t, printer.Options{File: "-", Stdin: strings.NewReader(in.String()), Stats: true, JSON: true})
			var got []struct {
				Calls, Bytes int
				P50          int64 `json:"p50_us"`
				P95          int64 `json:"p95_us"`
				P99          int64 `json:"p99_us"`
				Own          int64 `json:"own_p50_us"`
			}
			if err := json.Unmarshal([]byte(out), &got); err != nil || len(got) != 1 {
				t.Fatalf("%v: %s", err, out)
			}
			g := got[0]
			if has := [4]int64{g.P50, g.P95, g.P99, g.Own}; has != tt.want || g.Calls != tt.n || g.Bytes != 5*tt.n {
				t.Errorf("%v of %d calls, %d bytes; want %v", has, g.Calls, g.Bytes, tt.want)
			}
		})
	}
}

// callLines prints the calls of a trace, through --json, one short line each.
func callLines(t *testing.T, in string, filters ...string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(run(t, printer.Options{File: "-", Stdin: strings.NewReader(in), JSON: true, Filters: filters})) {
		var c struct {
			T, Call, From, To, Method, Status string
			Total                             int `json:"total_us"`
			Own                               int `json:"own_us"`
			Peer                              int `json:"peer_us"`
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if c.T == "call" {
			fmt.Fprintf(&b, "%s %s>%s %s %s total %d own %d peer %d\n", c.Call, c.From, c.To, c.Method, c.Status, c.Total, c.Own, c.Peer)
		}
	}
	return b.String()
}

// writeCall adds a call of the tool t that took us microseconds and 5 bytes.
func writeCall(in *strings.Builder, us int) {
	const frame = `{"t":"frame","leg":"client","peer":"c","method":"tools/call","name":"t","call":"c%d","dir":"%s","kind":"%s","bytes":%d,"total_us":%d,"own_us":%[5]d,"status":"ok"}` + "\n"
	fmt.Fprintf(in, frame, us, "in", "request", 2, 0)
	fmt.Fprintf(in, frame, us, "out", "response", 3, us)
}
