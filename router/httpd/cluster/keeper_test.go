package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"toolman/fixtures/valkey"
	"toolman/router/httpd/cluster/engine"
	"toolman/router/httpd/presence"
)

// begin begins a session of a caller, whose unit is claimed, and stores its record.
func (r *replica) begin(key string, who *presence.Caller, record []byte) *kept {
	r.t.Helper()
	s := &kept{}
	s.save = func() { r.Save(key, who, record) }
	if _, err := r.claim(r.t.Context(), r.keys.Load().UnitOf(idIn(key), who), "", false); err != nil {
		r.t.Fatal(err)
	}
	r.Began(key, who, s)
	s.Save()
	return s
}

func TestWhatTheEngineHasLostIsStoredAgain(t *testing.T) {
	server := valkey.Start(t)
	a := start(t, server)
	who := a.caller("who")
	key := "mcp " + a.NewID(who)
	s := a.begin(key, who, []byte("record"))
	a.keeping.Lock() // while records are stored
	before := s.saved()
	server.Flush()
	beats := a.Status().Beats
	await(t, "the engine has answered twice", func() bool { return a.Status().Beats >= beats+2 })
	if n := s.saved() - before; n != 0 {
		t.Fatalf("it was stored %d times", n)
	}
	a.keeping.Unlock()
	await(t, "the record is stored again", func() bool {
		record, err := a.engine.Get(t.Context(), key)
		return err == nil && string(record) == "record"
	})
}

// The engine has lost who owns a caller, and the owner is too busy to say so at once.
func TestABusyOwnerKeepsItsCallers(t *testing.T) {
	server := valkey.Start(t)
	a, b := start(t, server), start(t, server)
	a.hold("another")
	b.post("another", call) // the replicas are connected
	a.keeping.Lock()
	defer a.keeping.Unlock()
	for try := 1; ; try++ { // on a busy machine it may be too late at times
		who := fmt.Sprint("who ", try)
		a.post(who, call)
		a.verifying.Lock()
		a.pauses.Add(1)
		server.Flush()
		time.AfterFunc(400*time.Millisecond, func() {
			a.verified.Store(a.pauses.Load())
			a.verifying.Unlock()
		})
		_, got := b.post(who, call)
		if got == a.o.Replica {
			return
		}
		if try == 5 {
			t.Fatalf("%q has served the caller, the owner is %s", got, a.o.Replica)
		}
	}
}

func TestARecordThatIsTooLongIsNotTriedAgain(t *testing.T) {
	server := valkey.Start(t)
	a := joined(t, server)
	who := a.caller("who")
	s := a.begin("mcp "+a.NewID(who), who, make([]byte, engine.MaxRecord+1))
	if n := a.Status().Unprotected; n != 1 {
		t.Errorf("%d sessions are unprotected", n)
	}
	for range 3 {
		a.upkeep(t.Context())
	}
	if n := s.saved(); n != 1 {
		t.Errorf("it was tried %d times", n)
	}
}

func TestASessionThatHasEndedIsNotMadeAgain(t *testing.T) {
	server := valkey.Start(t)
	a := joined(t, server)
	who := a.caller("who")
	for range 100 {
		key := "mcp " + a.NewID(who)
		s := a.begin(key, who, []byte("record"))
		a.Ended(key, who, s, nil)
		var record []byte
		err := presence.ErrUnavailable
		for err == presence.ErrUnavailable { // as long as a busy machine has not forgotten it
			record, err = a.Load(t.Context(), key, who)
		}
		if record != nil || err != nil {
			t.Fatalf("%q, %v", record, err)
		}
	}
	await(t, "nothing is remembered", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return len(a.ending) == 0 && len(a.units) == 0
	})
}

func TestTheEndOfAnEarlierSessionLeavesTheRecordOfTheNext(t *testing.T) {
	server := valkey.Start(t)
	a := start(t, server)
	who := a.caller("who")
	first := a.begin("mcp caller\n", who, []byte("one"))
	a.begin("mcp caller\n", who, []byte("two"))
	await(t, "the second record is stored", func() bool { return a.Status().Unprotected == 0 })
	a.Ended("mcp caller\n", who, first, nil)
	if record, err := a.Load(t.Context(), "mcp caller\n", who); string(record) != "two" || err != nil {
		t.Errorf("%q, %v", record, err)
	}
}

// A session that is made without its record loses what the client has switched on.
func TestAClientThatIsGoneDoesNotLoseItsRecord(t *testing.T) {
	server := valkey.Start(t)
	a := start(t, server)
	who := a.caller("who")
	a.begin("mcp caller\n", who, []byte("record"))
	await(t, "the record is stored", func() bool { return a.Status().Unprotected == 0 })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if record, err := a.Load(ctx, "mcp caller\n", who); string(record) != "record" || err != nil {
		t.Errorf("%q, %v", record, err)
	}
}

func TestUnitsWithoutSessionsAreGivenUp(t *testing.T) {
	server := valkey.Start(t)
	a := start(t, server)
	a.keeping.Lock() // a busy machine may need longer for so many requests than empty units stay
	for i := range 200 {
		a.post(fmt.Sprint("who ", i), call)
	}
	a.dropEmpty(time.Hour)
	if n := len(a.unitNames()); n != 200 {
		t.Fatalf("there are %d units", n)
	}
	a.mu.Lock()
	for _, u := range a.units {
		u.since = u.since.Add(-emptyTime)
	}
	a.mu.Unlock()
	a.keeping.Unlock()
	await(t, "no unit is left", func() bool { return len(a.unitNames()) == 0 })
	unit := a.keys.Load().UnitOf("", a.caller("who 7"))
	await(t, "the engine knows it", func() bool {
		owner, err := a.engine.Owner(t.Context(), unit)
		return owner == "" && err == nil
	})
}

func TestACallerWhoIsFreeNoLongerGetsASessionOfTheCluster(t *testing.T) {
	server := valkey.Start(t)
	var free atomic.Bool
	free.Store(true)
	a := start(t, server, func(o *Options) { o.Free = func() (bool, bool) { return free.Load(), false } })
	who := a.caller("who")
	s := &kept{}
	a.Began("bridge caller\n", who, s)
	a.upkeep(t.Context())
	if len(s.ended) != 0 || len(a.unitNames()) != 0 {
		t.Errorf("it ends with %v, or is in %v", s.ended, a.unitNames())
	}
	free.Store(false)
	await(t, "it ends", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.ended) > 0 })
	a.Ended("bridge caller\n", who, s, presence.ErrMoved)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.everywhere) != 0 {
		t.Error("it is remembered")
	}
}

func TestAtItsEndAReplicaKeepsSessionsThatOthersCannotMake(t *testing.T) {
	server := valkey.Start(t)
	a := start(t, server)
	who := a.caller("who")
	long, short := a.begin("mcp "+a.NewID(who), who, make([]byte, engine.MaxRecord+1)), a.begin("mcp "+a.NewID(who), who, []byte("record"))
	await(t, "the short record is stored", func() bool { return a.Status().Unprotected == 1 })
	for _, s := range a.kept(none, stored) {
		s.Move()
	}
	if len(long.ended) != 0 || !slices.Equal(short.ended, []error{presence.ErrMoved}) {
		t.Errorf("they end with %v and %v", long.ended, short.ended)
	}
}

func TestTheSecondPauseCounts(t *testing.T) {
	a := joined(t, valkey.Start(t))
	first := a.pauses.Add(1)
	second := a.pauses.Add(1)
	a.verify(t.Context(), first)
	if !a.suspect() {
		t.Error("the units count as verified, although the replica has paused since")
	}
	a.verify(t.Context(), second)
	if a.suspect() {
		t.Error("the units do not count as verified")
	}
}
