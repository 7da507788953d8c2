package stdio

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
)

// A sink is a peer.Sender that counts what it is sent.
type sink struct{ frames []string }

func (s *sink) Queue(frame []byte, _ []jsonrpc.Edit) error {
	s.frames = append(s.frames, string(frame))
	return nil
}

func (*sink) Flush() {}

func TestARefusalWaitsForRequestsAndNotForLong(t *testing.T) {
	for _, tt := range []struct {
		name     string
		requests []time.Duration // when they come
		end      time.Duration   // when the client closes the connection; 0: never
		want     time.Duration
	}{
		{"a client that says nothing", nil, 0, firstRequest},
		{"a client that has gone", nil, time.Millisecond, time.Millisecond},
		{"a client that stays", []time.Duration{2 * time.Second}, 0, 3 * time.Second},
		{"a client that tries again", []time.Duration{0, 900 * time.Millisecond}, 0, 1900 * time.Millisecond},
		{"a client that shows the error and closes", []time.Duration{0}, 10 * time.Millisecond, 10 * time.Millisecond},
		{"a client that asks for ever", every(500*time.Millisecond, 100), 0, longest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				defer func() {
					cancel()
					<-done
				}()
				to := &sink{}
				r := &refuser{to: to, answered: make(chan struct{}, 1), closed: make(chan struct{})}
				go func() {
					defer close(done)
					start := time.Now()
					for _, at := range tt.requests {
						time.Sleep(at - time.Since(start))
						if ctx.Err() != nil {
							return
						}
						var out peer.Outgoing
						r.answer([]byte("1"), &out)
					}
					if tt.end > 0 {
						time.Sleep(tt.end - time.Since(start))
						r.Closed(nil)
					}
				}()
				start := time.Now()
				r.wait(ctx)
				if took := time.Since(start); took != tt.want {
					t.Errorf("took %v, want %v", took, tt.want)
				}
			})
		})
	}
}

// every returns n times.
func every(step time.Duration, n int) (at []time.Duration) {
	for i := range n {
		at = append(at, time.Duration(i)*step)
	}
	return at
}
