package dial

import (
	"math/rand/v2"
	"time"
)

// A Restart says when toolman starts a server again that it has started.
type Restart uint8

// The values of Restart.
const (
	RestartNever     Restart = iota
	RestartOnFailure         // unless it ended with exit status 0 after it was ready
	RestartAlways
)

// ParseRestart returns the Restart with this name: never, on-failure or always.
func ParseRestart(name string) Restart {
	switch name {
	case "on-failure":
		return RestartOnFailure
	case "always":
		return RestartAlways
	}
	return RestartNever
}

// A Backoff chooses the pauses before the attempts to reach a server again. Each pause is twice the
// last.
type Backoff struct {
	Failures int // ends of the server in a row

	longest  time.Duration
	stable   time.Duration // a server that ran for this long has failed for the first time
	jitter   bool          // pauses are up to twice as long, so that servers do not restart together
	patience int           // after so many failures every pause is rarePause; 0: never
}

const (
	// firstPause is the shortest pause before an attempt.
	firstPause = time.Second
	// rarePause is the pause before an attempt to start a server that has failed often.
	rarePause = 5 * time.Minute
)

// Restarts returns the pauses for a server that toolman starts: from 1 s to 60 s, and 5 minutes
// after 10 failures.
func Restarts() *Backoff {
	return &Backoff{longest: time.Minute, stable: 5 * time.Minute, jitter: true, patience: 10}
}

// Reconnects returns the pauses for a server that runs already, which is cheap to try: from 1 s to
// 30 s.
func Reconnects() *Backoff {
	return &Backoff{longest: 30 * time.Second, stable: 30 * time.Second}
}

// Next counts an end of the server, which ran for the time up, and returns the pause before the
// next attempt.
func (b *Backoff) Next(up time.Duration) time.Duration {
	if up >= b.stable {
		b.Failures = 0
	}
	b.Failures++
	if b.patience > 0 && b.Failures >= b.patience {
		return rarePause
	}
	pause := firstPause << min(b.Failures-1, 10)
	if b.jitter {
		pause += rand.N(pause)
	}
	return min(pause, b.longest)
}
