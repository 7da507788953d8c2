package calls_test

import (
	"fmt"
	"strings"
	"testing"

	"toolman/cmd/internal/traces/calls"
	"toolman/jsonrpc/trace"
	"toolman/jsonrpc/trace/filter"
)

// Whose time the time of a call is, and whether it failed.
func TestCallsOfOthersAndAnswersOfToolman(t *testing.T) {
	const frame = `{"v":1,"t":"frame","us":%d,"leg":"%s","peer":"%s","dir":"%s","kind":"%s","method":"m","id":1,"call":"c1"%s,"msg":%s}` + "\n"
	line := func(us int, leg, peer, dir, kind, rest, msg string) string {
		return fmt.Sprintf(frame, us, leg, peer, dir, kind, rest, msg)
	}
	asked := line(10, "upstream", "fs", "in", "request", "", "{}") + line(15, "client", "ide", "out", "request", "", "{}") +
		line(2015, "client", "ide", "in", "response", `,"status":"ok","leg_us":2000`, "{}")
	local := line(10, "client", "ide", "in", "request", "", "{}")
	for _, tt := range []struct{ name, trace, want string }{
		{"the client's time is not toolman's", asked + line(2020, "upstream", "fs", "out", "response", `,"status":"ok","total_us":2010`, "{}"), "total 2010 own 10 peer 2000 ok"},
		{"nor in older traces", asked + line(2020, "upstream", "fs", "out", "response", `,"status":"ok","total_us":2010,"own_us":2010`, "{}"), "total 2010 own 10 peer 2000 ok"},
		{"toolman refuses with an error", local + line(20, "client", "ide", "out", "response", `,"status":"local","code":-32602`, `{"error":{"code":-32602,"message":""}}`), "total 10 own 10 peer 0 failed"},
		{"toolman's own tool fails", local + line(20, "client", "ide", "out", "response", `,"status":"local"`, `{"result":{"isError":true,"content":[{"text":"no"}]}}`), "total 10 own 10 peer 0 failed"},
		{"toolman answers", local + line(20, "client", "ide", "out", "response", `,"status":"local"`, `{"result":{}}`), "total 10 own 10 peer 0 ok"},
		{"a tap has no time of its own", `{"t":"session","tap":"fs"}` + "\n" + local + line(20, "client", "ide", "out", "response", `,"status":"ok","total_us":9,"own_us":3`, "{}"), "total 9 own 0 peer 9 ok"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, failed := "", false
			a := calls.NewAssembler(filter.Filter{}, false, func(c *calls.Call) {
				got = fmt.Sprintf("total %d own %d peer %d ", c.TotalUS, c.OwnUS, c.PeerUS) + map[bool]string{true: "failed", false: "ok"}[c.Failed()]
			})
			for r, err := range trace.Read(strings.NewReader(tt.trace)) {
				if err != nil {
					t.Fatal(err)
				}
				a.Take(r)
				failed = r.Failed()
			}
			if got != tt.want || failed != strings.HasSuffix(tt.want, "failed") {
				t.Errorf("%s, and the answer failed: %t; want %s", got, failed, tt.want)
			}
		})
	}
}
