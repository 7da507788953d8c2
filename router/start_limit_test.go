package router

import (
	"strings"
	"testing"
	"time"

	"toolman/fixtures/fakemcp"
	"toolman/router/upstream"
)

func TestAServerIsStoppedAfterItsStartLimit(t *testing.T) {
	silent := &fakemcp.Spec{On: map[string][]fakemcp.Step{"initialize": {}, "server/discover": {}}}
	h := newHallOf(t, upstream.Server{StartLimit: 50 * time.Millisecond}, silent) // its StartTimeout is longer
	st := h.r.Upstreams()[0]
	if st.State != upstream.Gone || !strings.HasSuffix(st.Problem, "no answer within 50ms; set its start_timeout to give it more time") {
		t.Errorf("it is %s: %s", st.State, st.Problem)
	}
}
