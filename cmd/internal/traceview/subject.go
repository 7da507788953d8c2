package traceview

import (
	"cmp"
	"time"

	"toolman/jsonrpc/trace"
)

// subjectOf makes a frame or an event something to judge.
func (f *Filter) subjectOf(r *trace.Record) *subject {
	return &subject{
		peers: []string{r.Peer, string(r.Leg)}, methods: []string{r.Method}, names: []string{r.Name},
		call: r.Call, status: r.Status, code: r.Code, failed: isFailure(r.Status) || r.Kind == trace.Invalid,
		dur:   time.Duration(cmp.Or(r.TotalUS, r.LegUS)) * time.Microsecond,
		texts: f.seen(r),
	}
}

// subject makes a call something to judge.
func (c *call) subject() *subject {
	peers := []string{c.first.Peer, c.other}
	if c.byToolman() {
		peers = append(peers, toolman)
	}
	return &subject{
		peers: peers, methods: []string{c.first.Method}, names: []string{c.first.Name, c.target},
		call: c.first.Call, status: c.status, code: c.code, failed: c.failed(),
		dur:   time.Duration(c.total) * time.Microsecond,
		texts: c.texts,
	}
}
