package traceview_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolman/cmd/internal/traceview"
)

// callLines prints the calls of a trace, through --json, one short line each.
func callLines(t *testing.T, in string, filters ...string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(run(t, traceview.Options{File: "-", Stdin: strings.NewReader(in), JSON: true, Filters: filters})) {
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
