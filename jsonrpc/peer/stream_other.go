//go:build !windows

package peer

import (
	"io"
	"sync/atomic"
)

func closeBusy(c io.Closer, _ *atomic.Bool) { c.Close() }

func interrupt(io.Closer, *atomic.Bool) {} // what can be interrupted has deadlines
