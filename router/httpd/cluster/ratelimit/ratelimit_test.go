package ratelimit

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"toolman/fixtures/valkey"
	"toolman/router/httpd/cluster/engine"
)

// buckets are an engine.
type buckets struct {
	mu    sync.Mutex
	have  map[string]float64 // tokens
	at    map[string]time.Time
	takes int
	slow  time.Duration
	down  bool
}

func (b *buckets) take(ctx context.Context, name string, n int, rate float64, burst int) (int, error) {
	if b.slow > 0 {
		select {
		case <-time.After(b.slow):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down {
		return 0, errors.New("no engine")
	}
	b.takes++
	now := time.Now()
	if _, known := b.have[name]; !known {
		b.have[name], b.at[name] = float64(burst), now
	}
	b.have[name] = min(float64(burst), b.have[name]+now.Sub(b.at[name]).Seconds()*rate)
	b.at[name] = now
	n = min(n, int(b.have[name]))
	b.have[name] -= float64(n)
	return n, nil
}

func newBuckets() *buckets { return &buckets{have: map[string]float64{}, at: map[string]time.Time{}} }

func (b *buckets) limiter(limit int) *Limiter {
	return New(Options{Limit: limit, Take: b.take, Replicas: func() int { return 2 }})
}

// allowed counts how many of n requests are allowed.
func allowed(l *Limiter, name string, n int) (count int) {
	for range n {
		if l.Allow(name) {
			count++
		}
		synctest.Wait()
	}
	return count
}

func TestReplicasKeepTheLimitTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, limit := range []int{1, 7, 100} {
			all := newBuckets()
			a, b := all.limiter(limit), all.limiter(limit)
			n := 0
			for range 4 * limit {
				n += allowed(a, "c", 1) + allowed(b, "c", 1)
			}
			if n > 2*limit || n < 2*limit-2*(limit/10+limit/20) {
				t.Errorf("limit %d: a burst of %d is allowed", limit, n)
			}
			if got := allowed(a, "another", 2); got != 2 {
				t.Errorf("limit %d: another client gets %d of 2", limit, got)
			}
			n = 0
			for range 10 * limit {
				time.Sleep(time.Second / time.Duration(2*limit))
				n += allowed(a, "c", 1) + allowed(b, "c", 1)
			}
			if n > 5*limit+limit/5+2 || n < 5*limit-limit/5-2 {
				t.Errorf("limit %d: %d are allowed in 5 seconds", limit, n)
			}
		}
	})
}

func TestRequestsDoNotWaitForTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newBuckets()
		all.slow = time.Millisecond
		l := all.limiter(100)
		l.Allow("c")
		waited := 0
		for range 500 {
			time.Sleep(20 * time.Millisecond)
			began := time.Now()
			if !l.Allow("c") {
				t.Fatal("a request within the limit is refused")
			}
			if time.Since(began) > 0 {
				waited++
			}
		}
		if waited > 0 || all.takes > 110 {
			t.Errorf("%d of 500 requests waited; the engine was asked %d times", waited, all.takes)
		}
	})
}

func TestWithoutTheEngineEachReplicaAllowsItsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newBuckets()
		all.down, all.slow = true, time.Hour // it does not even refuse
		l := all.limiter(100)
		began := time.Now()
		if n := allowed(l, "c", 500); n != 100 {
			t.Errorf("%d are allowed, want the half of a burst of 200", n)
		}
		if took := time.Since(began); took > takeTime {
			t.Errorf("the requests waited %v", took)
		}
		time.Sleep(time.Second)
		if n := allowed(l, "c", 500); n != 50 {
			t.Errorf("%d are allowed a second later, want the half of 100", n)
		}
		all.mu.Lock()
		all.down, all.slow = false, 0
		all.mu.Unlock()
		time.Sleep(2 * time.Second)
		l.Allow("c")
		synctest.Wait()
		if n := allowed(l, "c", 500); n < 190 || n > 200 {
			t.Errorf("%d are allowed with the engine, want a burst of 200", n)
		}
	})
}

// TestReplicasWithAnEngine exhausts a burst through two engines at the same time.
func TestReplicasWithAnEngine(t *testing.T) {
	server := valkey.Start(t)
	const limit = 100
	var count atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for _, id := range []string{"aaaaaaaa", "bbbbbbbb"} {
		e, err := engine.Open(engine.Options{URL: server.URL, Name: "test", Secrets: [][]byte{bytes.Repeat([]byte("s"), 32)}, Replica: id})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if _, err := e.Join(t.Context()); err != nil {
			t.Fatal(err)
		}
		take := func(ctx context.Context, name string, n int, rate float64, burst int) (int, error) {
			return e.Take(context.WithoutCancel(ctx), name, n, rate, burst) // a busy machine is not to count as an engine that fails
		}
		l := New(Options{Limit: limit, Take: take, Replicas: func() int { return 2 }})
		for range 4 {
			wg.Go(func() {
				for range 2 * limit {
					if l.Allow("c") {
						count.Add(1)
					}
				}
			})
		}
	}
	wg.Wait()
	most := 2*limit + int(limit*time.Since(began).Seconds()) + 1
	if n := int(count.Load()); n > most || n < 2*limit-2*(limit/10+limit/20) {
		t.Errorf("%d requests are allowed, at most %d may be", n, most)
	}
}

func BenchmarkAllow(b *testing.B) {
	l := New(Options{Limit: 1e8, Take: func(context.Context, string, int, float64, int) (int, error) { return 1e7, nil }, Replicas: func() int { return 1 }})
	for b.Loop() {
		l.Allow("c")
	}
}
