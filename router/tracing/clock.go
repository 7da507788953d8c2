package tracing

import (
	"sync/atomic"
	"time"
)

// A Clock counts nanoseconds since it was made, and does not jump. It also says whether the times of
// calls are of use: reading the time costs more than the rest of what the router does for some calls.
type Clock struct {
	start time.Time
	timed atomic.Bool
}

// NewClock returns a clock that counts from now on.
func NewClock() *Clock { return &Clock{start: time.Now()} }

// Now returns the nanoseconds since the clock was made.
func (c *Clock) Now() int64 { return int64(time.Since(c.start)) }

// At returns the time at which Now returned n.
func (c *Clock) At(n int64) time.Time { return c.start.Add(time.Duration(n)) }

// Time says that calls are to be timed from now on.
func (c *Clock) Time() { c.timed.Store(true) }

// Timed reports whether calls are timed: there is a trace, an audit log, or a call_timeout.
func (c *Clock) Timed() bool { return c.timed.Load() }
