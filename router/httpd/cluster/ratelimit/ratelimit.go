package ratelimit

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	takeTime   = 250 * time.Millisecond // for an answer of the engine that a request waits for
	leastPause = 10 * time.Millisecond  // until tokens are taken again when there were none
	downTime   = time.Second            // until the engine is asked again when it has not answered; no request waits for that
	holdTime   = time.Second            // how long unused tokens count
	maxClients = 4096                   // that are remembered at least. At most it is twice as many
)

// Options configure a Limiter.
type Options struct {
	Limit int // requests a second of a client, at least 1; in bursts twice as many
	// Take takes up to n tokens of a bucket that fills with rate tokens a second up to burst.
	Take func(ctx context.Context, bucket string, n int, rate float64, burst int) (granted int, err error)
	// Replicas returns the number of replicas that are alive.
	Replicas func() int
}

// A Limiter limits the requests of clients. It is safe for use by many goroutines.
type Limiter struct {
	o     Options
	batch int // tokens that are taken at a time

	// guarded by mu
	mu       sync.Mutex
	now, old map[string]*client // clients that were seen recently, and before that
	failing  bool               // the engine did not answer last
	again    time.Time          // when it is asked again then
	share    int                // the number of replicas then
}

// A client is what a Limiter knows of one. Its fields are guarded by Limiter.mu.
type client struct {
	tokens int
	taken  time.Time     // when the tokens were
	pause  time.Time     // until then there are no more
	taking chan struct{} // closed when tokens that are being taken are there; nil: none are
	local  *rate.Limiter // limits while the engine does not answer; nil: it has answered
}

// New returns a Limiter.
func New(o Options) *Limiter {
	return &Limiter{o: o, batch: max(1, o.Limit/10), now: map[string]*client{}}
}

// Allow reports whether a request of a client is within the limit, and counts it if so.
func (l *Limiter) Allow(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.clientLocked(name)
	for {
		now := time.Now()
		switch {
		case l.failing:
			if !now.Before(l.again) {
				l.takeLocked(name, c)
			}
			return l.aloneLocked(c)
		case c.tokens > 0 && now.Sub(c.taken) < holdTime:
			c.tokens--
			if l.batch > 1 && c.tokens <= l.batch/2 && !now.Before(c.pause) {
				l.takeLocked(name, c)
			}
			return true
		case now.Before(c.pause):
			return false
		}
		c.tokens = 0
		taking := l.takeLocked(name, c)
		l.mu.Unlock()
		<-taking
		l.mu.Lock()
	}
}

// takeLocked takes tokens for a client in the background.
func (l *Limiter) takeLocked(name string, c *client) (taking chan struct{}) {
	if c.taking != nil {
		return c.taking
	}
	done := make(chan struct{})
	c.taking = done
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(context.Background(), takeTime)
		defer cancel()
		n, err := l.o.Take(ctx, name, l.batch, float64(l.o.Limit), 2*l.o.Limit)
		share := 1
		if err != nil {
			share = max(1, l.o.Replicas())
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		c.taking = nil
		now := time.Now()
		switch {
		case err != nil:
			l.failing, l.again, l.share = true, now.Add(downTime), share
			return
		case n == 0:
			c.pause = now.Add(max(leastPause, time.Second/time.Duration(l.o.Limit)))
		default:
			c.tokens += n
			c.taken = now
		}
		l.failing, c.local = false, nil
	}()
	return done
}

// aloneLocked is Allow without the engine.
func (l *Limiter) aloneLocked(c *client) bool {
	limit, burst := rate.Limit(l.o.Limit)/rate.Limit(l.share), max(1, 2*l.o.Limit/l.share)
	if c.local == nil {
		c.local = rate.NewLimiter(limit, burst)
	} else if c.local.Limit() != limit {
		c.local.SetLimit(limit)
		c.local.SetBurst(burst)
	}
	return c.local.Allow()
}

func (l *Limiter) clientLocked(name string) *client {
	c := l.now[name]
	if c == nil {
		if c = l.old[name]; c == nil {
			c = &client{}
		}
		if len(l.now) >= maxClients {
			l.now, l.old = map[string]*client{}, l.now
		}
		l.now[name] = c
	}
	return c
}
