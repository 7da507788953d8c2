package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"toolman/fixtures/valkey"
)

func TestMembers(t *testing.T) {
	s := valkey.Start(t)
	a, b := joined(t, s.URL, "aaaaaaaa"), opened(t, s.URL, "bbbbbbbb", func(o *Options) { o.Lease = 300 * time.Millisecond })
	if _, _, err := b.Beat(soon(t), Lease{}); err != ErrNotJoined {
		t.Errorf("a Beat before Join: %v", err)
	}
	if join(t, a) != join(t, b) {
		t.Error("two replicas have different keys")
	}
	lease := Lease{Address: "[::1]:8901", Version: "v2", Protocol: 3, Config: "5f", Draining: true}
	members, lost, err := b.Beat(soon(t), lease)
	if err != nil || lost || len(members) != 2 || members[0].ID != "aaaaaaaa" || members[1] != (Member{"bbbbbbbb", lease}) {
		t.Errorf("members %+v, lost %t, %v", members, lost, err)
	}
	if err := b.Leave(soon(t)); err != nil {
		t.Fatal(err)
	}
	if members, _ := beat(t, a); len(members) != 1 {
		t.Errorf("after Leave: %+v", members)
	}
	beat(t, b)
	eventually(t, "the lease of b ends", func() bool { members, _ := beat(t, a); return len(members) == 1 })
	if ids := s.Command("SMEMBERS", "{toolman:test}:replicas"); ids != "aaaaaaaa" {
		t.Errorf("replicas are %q", ids)
	}
	for i := range MaxReplicas - 1 {
		s.Command("SET", fmt.Sprintf("{toolman:test}:r:%08d", i), "x")
		s.Command("SADD", "{toolman:test}:replicas", fmt.Sprintf("%08d", i))
	}
	if members, _ := beat(t, a); len(members) != 1 {
		t.Errorf("what is no lease is a member: %d", len(members))
	}
	if _, _, err := b.Beat(soon(t), lease); err == nil || !strings.Contains(err.Error(), "256 replicas") {
		t.Errorf("one more than allowed: %v", err)
	}
}

func TestClaimRace(t *testing.T) {
	s := valkey.Start(t)
	var engines []*Engine
	for _, id := range []string{"aaaaaaaa", "bbbbbbbb", "cccccccc"} {
		engines = append(engines, joined(t, s.URL, id))
	}
	for round := range 20 {
		unit := fmt.Sprint("unit ", round)
		var mu sync.Mutex
		owners, fresh := map[string]bool{}, 0
		var all sync.WaitGroup
		for _, e := range engines {
			for range 8 {
				all.Go(func() {
					owner, first, err := e.Claim(context.Background(), unit, "", ttl)
					mu.Lock()
					defer mu.Unlock()
					if err != nil {
						t.Error(err)
					}
					owners[owner] = true
					if first {
						fresh++
					}
				})
			}
		}
		all.Wait()
		if len(owners) != 1 || fresh != 1 {
			t.Fatalf("owners %v, %d of them new", owners, fresh)
		}
	}
}

// TestClaimOfTheDead has many replicas take the units of a dead one, which they know to be dead.
func TestClaimOfTheDead(t *testing.T) {
	s := valkey.Start(t)
	dead := joined(t, s.URL, "dddddddd")
	engines := []*Engine{joined(t, s.URL, "aaaaaaaa"), joined(t, s.URL, "bbbbbbbb")}
	endLeases(s)
	claim(t, dead, "unit", "")
	if owner, _ := claim(t, engines[0], "unit", ""); owner != "dddddddd" {
		t.Errorf("%s took the unit of a live replica", owner)
	}
	owners := make(chan string, 16)
	for i := range 16 {
		go func() {
			owner, fresh, err := engines[i%2].Claim(context.Background(), "unit", "dddddddd", ttl)
			if err != nil || fresh {
				t.Errorf("fresh %t, %v", fresh, err)
			}
			owners <- owner
		}()
	}
	first := <-owners
	for range 15 {
		if owner := <-owners; owner != first || owner == "dddddddd" {
			t.Errorf("owners %s and %s", first, owner)
		}
	}
	if members, _ := beat(t, engines[0]); len(members) != 2 {
		t.Errorf("the dead one is a member: %+v", members)
	}
	wantLost(t, dead, true) // it was not dead, and has to look whose its units are
	wantLost(t, dead, false)
	if owner := put(t, dead, "unit", "key", "record"); owner != first {
		t.Errorf("a unit of %s is %s's", first, owner)
	}
}

func TestLeaseEnds(t *testing.T) {
	s := valkey.Start(t)
	a, b := joined(t, s.URL, "aaaaaaaa"), joined(t, s.URL, "bbbbbbbb")
	put(t, a, "unit", "key", "record")
	endLeases(s)
	if owner, _ := claim(t, b, "unit", ""); owner != "aaaaaaaa" {
		t.Errorf("%s owns the unit of a, which has a lease", owner)
	}
	endLeases(s, "aaaaaaaa")
	if owner, _ := claim(t, b, "unit", ""); owner != "bbbbbbbb" {
		t.Errorf("%s owns the unit of a, whose lease has ended", owner)
	}
	wantRecord(t, b, "key", "record")
	wantLost(t, a, true)
	if owner := put(t, a, "unit", "key", "other"); owner != "bbbbbbbb" {
		t.Errorf("%s owns it", owner)
	}
	wantRecord(t, a, "key", "record")
}

// TestLeasesEndTogether keeps owners although all leases have ended: nobody could renew them.
func TestLeasesEndTogether(t *testing.T) {
	s := valkey.Start(t)
	a, b := joined(t, s.URL, "aaaaaaaa"), joined(t, s.URL, "bbbbbbbb")
	claim(t, a, "unit", "")
	endLeases(s, "aaaaaaaa", "bbbbbbbb")
	s.Command("DEL", "{toolman:test}:up") // it lasts as long as the last of them
	for _, lost := range []bool{true, false} {
		if owner, _ := claim(t, b, "unit", ""); owner != "aaaaaaaa" {
			t.Fatalf("%s owns the unit", owner)
		}
		wantLost(t, b, lost) // b alone has a lease again
	}
	endLeases(s)
	if owner, _ := claim(t, b, "unit", ""); owner != "bbbbbbbb" {
		t.Errorf("%s owns the unit of a, which does not come back", owner)
	}
}

func TestRecords(t *testing.T) {
	s := valkey.Start(t)
	a, b := joined(t, s.URL, "aaaaaaaa"), joined(t, s.URL, "bbbbbbbb")
	wantRecord(t, a, "key", "")
	wantOwner(t, a, "unit", "")
	if owner := put(t, a, "unit", "key", "one"); owner != "aaaaaaaa" {
		t.Errorf("%s owns it", owner)
	}
	if owner := put(t, b, "unit", "key", "two"); owner != "aaaaaaaa" {
		t.Errorf("%s owns it", owner)
	}
	wantRecord(t, b, "key", "one")
	for _, call := range []error{b.Release(soon(t), "unit"), b.Forget(soon(t), "unit", "key", true), b.Yield(soon(t), "unit", "bbbbbbbb", ttl)} {
		if call != nil {
			t.Error(call)
		}
	}
	wantOwner(t, b, "unit", "aaaaaaaa")
	wantRecord(t, b, "key", "one")

	if err := a.Yield(soon(t), "unit", "bbbbbbbb", ttl); err != nil {
		t.Error(err)
	}
	wantOwner(t, a, "unit", "bbbbbbbb")
	if owner := put(t, b, "unit", "key", "three"); owner != "bbbbbbbb" {
		t.Errorf("%s owns it", owner)
	}
	if err := b.Release(soon(t), "unit"); err != nil {
		t.Error(err)
	}
	wantOwner(t, a, "unit", "")
	wantRecord(t, a, "key", "three")
	if owner, fresh := claim(t, a, "unit", ""); owner != "aaaaaaaa" || !fresh {
		t.Errorf("%s, %t", owner, fresh)
	}
	if owner, fresh := claim(t, a, "unit", ""); owner != "aaaaaaaa" || fresh {
		t.Errorf("again: %s, %t", owner, fresh)
	}
	put(t, a, "unit", "key 2", "four")
	if err := a.Forget(soon(t), "unit", "key", false); err != nil {
		t.Error(err)
	}
	wantRecord(t, a, "key", "")
	wantOwner(t, a, "unit", "aaaaaaaa")
	if err := a.Forget(soon(t), "unit", "key 2", true); err != nil {
		t.Error(err)
	}
	wantRecord(t, a, "key 2", "")
	wantOwner(t, a, "unit", "")

	if _, err := a.Put(soon(t), "unit", "key", make([]byte, MaxRecord+1), ttl); err != ErrTooLong {
		t.Errorf("a long record is stored: %v", err)
	}
	uris := strings.Repeat(`"file:///home/user/project/src/file-17.txt",`, 10_000)
	put(t, a, "unit", "key", uris)
	wantRecord(t, a, "key", uris)
	if _, _, err := a.Claim(soon(t), "unit", "", 0); err == nil {
		t.Error("a claim without a TTL")
	}
}

func TestAReplicaThatLivesKeepsItsUnitsWithoutALease(t *testing.T) {
	s := valkey.Start(t)
	a, b := joined(t, s.URL, "aaaaaaaa"), joined(t, s.URL, "bbbbbbbb")
	claim(t, a, "unit", "")
	endLeases(s, "aaaaaaaa")
	if owner, _, err := b.Claim(soon(t), "unit", "", ttl, "cccccccc", "aaaaaaaa"); owner != "aaaaaaaa" || err != nil {
		t.Errorf("%s, %v", owner, err)
	}
	if owner, _ := claim(t, b, "unit", ""); owner != "bbbbbbbb" {
		t.Errorf("%s has it", owner)
	}
}

func TestRenew(t *testing.T) {
	s := valkey.Start(t)
	a := joined(t, s.URL, "aaaaaaaa")
	var units, keys []string
	for i := range 700 { // more than one pipeline
		units, keys = append(units, fmt.Sprint("unit ", i)), append(keys, fmt.Sprint("key ", i))
		put(t, a, units[i], keys[i], "record")
	}
	missing, err := a.Renew(soon(t), units, keys, 2*time.Hour)
	if err != nil || missing {
		t.Errorf("missing %t, %v", missing, err)
	}
	for _, key := range s.Keys() {
		if kind := key[len("{toolman:test}:")]; (kind == 's' || kind == 'o') && len(s.Command("TTL", key)) < 4 {
			t.Fatalf("%s was not renewed", key)
		}
	}
	if err := a.Forget(soon(t), units[3], keys[3], false); err != nil {
		t.Fatal(err)
	}
	if missing, err := a.Renew(soon(t), units, keys, time.Hour); err != nil || !missing {
		t.Errorf("missing %t, %v", missing, err)
	}
	if missing, err := a.Renew(soon(t), nil, nil, time.Hour); err != nil || missing {
		t.Errorf("of nothing: missing %t, %v", missing, err)
	}
}

func TestLostAfterFlush(t *testing.T) {
	s := valkey.Start(t)
	a := joined(t, s.URL, "aaaaaaaa")
	key := join(t, a)
	for i := range 5 {
		put(t, a, fmt.Sprint("unit ", i), "key", "record")
		wantLost(t, a, false)
	}
	s.Flush()
	for i := range 3 { // fewer than were lost
		put(t, a, fmt.Sprint("unit ", i), "key", "record")
	}
	wantLost(t, a, true)
	for i := range 5 {
		put(t, a, fmt.Sprint("unit ", i), "key", "record")
	}
	wantLost(t, a, false)
	if join(t, a) != key || !strings.Contains(strings.Join(s.Keys(), " "), "}:k ") {
		t.Error("the cluster's key was not put back")
	}
	s.Flush()
	if join(t, a) != key || join(t, opened(t, s.URL, "bbbbbbbb")) != key {
		t.Error("Join did not put the cluster's key back")
	}
}

// TestLostInFailover has a replica of the engine take over that lacks the last writes, and this
// replica write at once more than was lost.
func TestLostInFailover(t *testing.T) {
	old := valkey.Start(t, "--repl-diskless-sync-delay", "0")
	host, port, _ := strings.Cut(old.Addr, ":")
	next := valkey.Start(t, "--replicaof", host+" "+port)
	proxy := relay(t, old.Addr)
	a := joined(t, "redis://"+proxy.addr, "aaaaaaaa")
	for i := range 5 {
		put(t, a, fmt.Sprint("unit ", i), "key", "record")
	}
	wantLost(t, a, false)
	count := func(s *valkey.Server) string { return s.Command("GET", a.counter()) }
	eventually(t, "the replica has it all", func() bool { return count(next) == count(old) })

	next.Command("REPLICAOF", "NO", "ONE") // what comes now is lost
	put(t, a, "unit 0", "key", "new")
	put(t, a, "unit 5", "key 5", "new")
	proxy.to(next.Addr)
	eventually(t, "the new engine answers", func() bool { return a.Release(soon(t), "no unit") == nil })
	wantRecord(t, a, "key", "record")
	for i := range 2 {
		put(t, a, fmt.Sprint("unit ", 1+i), "key", "record")
	}
	wantLost(t, a, true)
	for range 3 {
		put(t, a, "unit 0", "key", fmt.Sprint(rand.Int()))
		wantLost(t, a, false)
	}
}

// TestDemoted goes on when the engine that it is connected to becomes a replica.
func TestDemoted(t *testing.T) {
	old, next := valkey.Start(t), valkey.Start(t)
	proxy := relay(t, old.Addr)
	a := joined(t, "redis://"+proxy.addr, "aaaaaaaa")
	host, port, _ := strings.Cut(next.Addr, ":")
	proxy.next(next.Addr) // for new connections
	old.Command("REPLICAOF", host, port)
	_, _, err := a.Beat(soon(t), Lease{})
	if err == nil || !strings.Contains(err.Error(), "READONLY") {
		t.Fatalf("a replica took a write: %v", err)
	}
	eventually(t, "the new engine is used", func() bool { _, _, err := a.Beat(soon(t), Lease{}); return err == nil })
}
