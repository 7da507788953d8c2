package presence

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"toolman/jsonrpc"
)

// A shelf is a Keeper in memory. It writes down what it is told.
type shelf struct {
	mu      sync.Mutex
	records map[string]string
	told    []string
	err     error           // of Load
	saveErr error           // of Save
	kept    map[string]Kept // that have begun and not ended
}

func (k *shelf) note(text string) { k.told = append(k.told, text) }

// Load implements Keeper.
func (k *shelf) Load(_ context.Context, key string, _ *Caller) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if record, ok := k.records[key]; ok {
		return []byte(record), k.err
	}
	return nil, k.err
}

// Began implements Keeper.
func (k *shelf) Began(key string, _ *Caller, s Kept) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept[key] = s
}

// Save implements Keeper.
func (k *shelf) Save(key string, _ *Caller, record []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.note("saved " + string(record))
	return k.saveErr
}

// Ended implements Keeper.
func (k *shelf) Ended(key string, _ *Caller, s Kept, why error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept[key] == s {
		delete(k.kept, key)
		k.note("ended " + map[bool]string{true: "here", false: "for good"}[why == ErrMoved])
	}
}

func (k *shelf) all() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(k.told, ", ")
}

// newKept returns a front whose sessions a shelf keeps. A record is the text of the changes.
func newKept(t *testing.T) (*front, *shelf, *[]string) {
	k := &shelf{records: map[string]string{}, kept: map[string]Kept{}}
	f := newFront(t, Options{Keeper: k})
	var restored []string
	f.sessions.front.Name = "front"
	make := f.sessions.front.New
	f.sessions.front.New = func(p *Session[*session, *call], key any) *session {
		p.Caller.Client.Recorded = p.Recorded()
		return make(p, key)
	}
	f.sessions.front.Record = func(*session) []byte { return []byte("all") }
	f.sessions.front.Restore = func(_ *session, record []byte) { restored = append(restored, string(record)) }
	f.sessions.front.StaysOpen = func(c *call) bool { return strings.Contains(c.id, "stream") }
	return f, k, &restored
}

// changes makes the record of a session another one.
func (s *session) changes() {
	var m jsonrpc.Message
	if err := jsonrpc.Scan([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), &m); err != nil {
		panic(err)
	}
	s.Handle(&m)
}

func TestASessionIsMadeAgainFromItsRecord(t *testing.T) {
	f, k, restored := newKept(t)
	k.records["front known"] = "record"
	who := f.caller("a")
	var wg sync.WaitGroup
	sessions := make([]*session, 8)
	for i := range sessions {
		wg.Go(func() { sessions[i], _ = f.sessions.AcquireKept(t.Context(), "known", who) })
	}
	wg.Wait()
	for _, s := range sessions {
		if s == nil || s != sessions[0] {
			t.Fatalf("the requests get sessions %v", sessions)
		}
	}
	if len(*restored) != 1 || (*restored)[0] != "record" {
		t.Errorf("restored %q", *restored)
	}
	if s, err := f.sessions.AcquireKept(t.Context(), "unknown", who); s != nil || err != nil {
		t.Errorf("without a record: %v, %v", s, err)
	}
	if s, err := f.sessions.AcquireOrNew(t.Context(), "new", who); s == nil || err != nil || len(*restored) != 1 {
		t.Errorf("a new session: %v, %v, restored %q", s, err, *restored)
	}
	k.err = ErrUnavailable
	if _, err := f.sessions.AcquireKept(t.Context(), "other", who); err != ErrUnavailable {
		t.Errorf("while it is not known whether there is a record: %v", err)
	}
}

func TestARecordIsSavedWhenTheSessionHasChanged(t *testing.T) {
	f, k, _ := newKept(t)
	s := f.begin("k", f.caller("a"))
	s.SaveChanges()
	if got := k.all(); got != "" {
		t.Errorf("a new session: %s", got)
	}
	s.changes()
	s.SaveChanges()
	s.SaveChanges()
	if got := k.all(); got != "saved all" {
		t.Errorf("after one change: %s", got)
	}
	s.changes()
	s.Release()
	if got := k.all(); got != "saved all, saved all" {
		t.Errorf("at the end of a request: %s", got)
	}
	k.saveErr = errors.New("not now")
	s.Acquire()
	s.changes()
	s.SaveChanges()
	s.SaveChanges() // the Keeper saves it later
	if got := k.all(); strings.Count(got, "saved") != 3 || s.Ended() {
		t.Errorf("while it cannot be saved: %s", got)
	}
	s.changes()
	s.End(nil)
	s.Release()
	if got := k.all(); !strings.HasSuffix(got, "saved all, ended for good") || strings.Count(got, "saved") != 3 {
		t.Errorf("after the end: %s", got)
	}
}

func TestASessionThatAnotherProcessHasEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, k, _ := newKept(t)
		k.saveErr = ErrMoved
		s := f.begin("k", f.caller("a"))
		s.changes()
		s.SaveChanges()
		synctest.Wait()
		if got := k.all(); got != "saved all, ended here" || !s.Ended() {
			t.Errorf("got %s", got)
		}
	})
}

func TestASessionMovesOnceNothingIsUnderWay(t *testing.T) {
	f, k, _ := newKept(t)
	s := f.begin("k", f.caller("a"))
	if s.Move() {
		t.Error("it moves during a request")
	}
	s.AddStream(1)
	c := s.open(t, `"call"`)
	if s.Move() {
		t.Error("it moves during a call")
	}
	s.Close([]byte(c.id))
	s.open(t, `"stream"`)
	if !s.Move() || !s.Ended() {
		t.Error("a stream keeps it")
	}
	if got := k.all(); got != "ended here" {
		t.Errorf("got %s", got)
	}
}

func TestASessionThatMovesWhileItIsRestoredKeepsItsRecord(t *testing.T) {
	f, k, _ := newKept(t)
	k.records["front k"] = "record"
	f.sessions.front.Restore = func(s *session, _ []byte) { s.End(ErrMoved) }
	if _, err := f.sessions.AcquireKept(t.Context(), "k", f.caller("a")); err != nil {
		t.Error(err)
	}
	if got := k.all(); got != "ended here" {
		t.Errorf("got %s", got)
	}
}

func TestAtTheEndRecordsStay(t *testing.T) {
	f, k, _ := newKept(t)
	f.begin("k", f.caller("a"))
	f.sessions.Close()
	if got := k.all(); got != "ended here" {
		t.Errorf("got %s", got)
	}
}
