package traceview_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toolman/cmd/internal/traceview"
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
			out := run(t, traceview.Options{File: "-", Stdin: strings.NewReader(in.String()), Stats: true, JSON: true})
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
