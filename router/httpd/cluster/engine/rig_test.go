package engine

import (
	"bytes"
	"context"
	"testing"
	"time"
)

var (
	secretA = bytes.Repeat([]byte("a"), 32)
	secretB = bytes.Repeat([]byte("b"), 32)
)

const ttl = time.Minute

// opened returns an Engine that has not connected. Its lease is short.
func opened(t *testing.T, url, replica string, change ...func(*Options)) *Engine {
	t.Helper()
	o := Options{URL: url, Name: "test", Secrets: [][]byte{secretA}, Replica: replica, Lease: 300 * time.Millisecond}
	for _, f := range change {
		f(&o)
	}
	e, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// joined returns an Engine of a live replica.
func joined(t *testing.T, url, replica string, change ...func(*Options)) *Engine {
	t.Helper()
	e := opened(t, url, replica, change...)
	join(t, e)
	beat(t, e)
	return e
}

func join(t *testing.T, e *Engine) [32]byte {
	t.Helper()
	key, err := e.Join(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func beat(t *testing.T, e *Engine) (members []Member, lost bool) {
	t.Helper()
	members, lost, err := e.Beat(soon(t), Lease{Address: "10.1.2.3:8901", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	return members, lost
}

// keepAlive beats until the test ends.
func keepAlive(t *testing.T, e *Engine) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(stop); <-stopped })
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				_, _, _ = e.Beat(context.Background(), Lease{})
			}
		}
	}()
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for begun := time.Now(); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("not after 20 s: %s", what)
		}
	}
}

func claim(t *testing.T, e *Engine, unit, dead string) (owner string, fresh bool) {
	t.Helper()
	owner, fresh, err := e.Claim(soon(t), unit, dead, ttl)
	if err != nil {
		t.Fatal(err)
	}
	return owner, fresh
}

func put(t *testing.T, e *Engine, unit, key, record string) (owner string) {
	t.Helper()
	owner, err := e.Put(soon(t), unit, key, []byte(record), ttl)
	if err != nil {
		t.Fatal(err)
	}
	return owner
}

func wantRecord(t *testing.T, e *Engine, key, want string) {
	t.Helper()
	record, err := e.Get(soon(t), key)
	if err != nil || string(record) != want || (record == nil) != (want == "") {
		t.Errorf("the record of %s is %q, %v, want %q", key, record, err, want)
	}
}

func wantOwner(t *testing.T, e *Engine, unit, want string) {
	t.Helper()
	if owner, err := e.Owner(soon(t), unit); err != nil || owner != want {
		t.Errorf("the owner of %s is %q, %v, want %q", unit, owner, err, want)
	}
}

func wantLost(t *testing.T, e *Engine, want bool) {
	t.Helper()
	if _, lost := beat(t, e); lost != want {
		t.Errorf("lost is %t, want %t", lost, want)
	}
}
