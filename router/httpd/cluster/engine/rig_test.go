package engine

import (
	"bytes"
	"context"
	"testing"
	"time"

	"toolman/fixtures/valkey"
)

var (
	secretA = bytes.Repeat([]byte("a"), 32)
	secretB = bytes.Repeat([]byte("b"), 32)
)

const ttl = time.Minute

// opened returns an Engine that has not connected. It waits for a busy machine, and its lease is
// longer than any test: endLeases ends it.
func opened(t *testing.T, url, replica string, change ...func(*Options)) *Engine {
	t.Helper()
	o := Options{URL: url, Name: "test", Secrets: [][]byte{secretA}, Replica: replica, Lease: time.Hour}
	for _, f := range change {
		f(&o)
	}
	e, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	e.longest, e.option.Dialer.Timeout, e.option.ConnWriteTimeout = time.Minute, time.Minute, time.Minute
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

// endLeases has the leases of replicas end as if their time were over, and so the grace that all
// owners have after nobody could renew leases.
func endLeases(s *valkey.Server, replicas ...string) {
	for _, id := range replicas {
		s.Command("DEL", "{toolman:test}:r:"+id)
	}
	s.Command("DEL", "{toolman:test}:grace")
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for begun := time.Now(); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatalf("not after a minute: %s", what)
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
