package shared

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolman/cmd/internal/store"
	"toolman/router/toolset"
)

// documents is an engine with one document.
type documents struct {
	mu      sync.Mutex
	text    []byte
	version int64
	down    error
	silent  bool   // it does not answer
	before  func() // called once before a document is set
}

func (d *documents) Document(ctx context.Context, _ string) ([]byte, int64, error) {
	if d.silent {
		<-ctx.Done()
		return nil, 0, ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text, d.version, d.down
}

func (d *documents) SetDocument(_ context.Context, _ string, text []byte, version int64) (bool, error) {
	if before := d.before; before != nil {
		d.before = nil
		before()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down != nil {
		return false, d.down
	}
	if version != d.version {
		return false, nil
	}
	d.text, d.version = text, version+1
	return true, nil
}

// A replica has a folder of its own.
type replica struct {
	*Shelf
	t    *testing.T
	path string // of its toolsets.json
	file store.Toolsets
}

func newReplica(t *testing.T, d *documents, sets ...string) *replica {
	t.Helper()
	file := store.ToolsetsBeside(filepath.Join(t.TempDir(), "tools.toml"))
	r := &replica{New(d, file, func(err error) { t.Log(err) }), t, file.Sets(), file}
	if len(sets) > 0 {
		if err := file.Update(t.Context(), adding(sets...)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func adding(names ...string) func(map[string]toolset.Set) error {
	return func(all map[string]toolset.Set) error {
		for _, name := range names {
			all[name] = toolset.Set{Name: name, Tools: []toolset.Ref{{NamespacedName: "fs_read"}}}
		}
		return nil
	}
}

// has fails the test if the replica has other toolsets, in use or in its file.
func (r *replica) has(want ...string) {
	r.t.Helper()
	used, err := r.Load()
	if err != nil {
		r.t.Fatal(err)
	}
	filed, err := r.file.Load()
	if err != nil {
		r.t.Fatal(err)
	}
	for where, sets := range map[string]map[string]toolset.Set{"use": used, "the file": filed} {
		var got []string
		for name := range sets {
			got = append(got, name)
		}
		if slices.Sort(got); strings.Join(got, " ") != strings.Join(want, " ") {
			r.t.Errorf("in %s: %q, want %q", where, got, want)
		}
	}
}

func (r *replica) adds(names ...string) {
	r.t.Helper()
	if err := r.Update(r.t.Context(), adding(names...)); err != nil {
		r.t.Fatal(err)
	}
}

func TestAChangeIsSeenByAllReplicas(t *testing.T) {
	d := &documents{}
	a, b := newReplica(t, d), newReplica(t, d)
	a.has()
	a.adds("one")
	b.has("one")
	b.adds("two")
	a.has("one", "two")
	b.has("one", "two")
}

func TestAReplicaWithAFileMakesTheDocument(t *testing.T) {
	d := &documents{}
	a, b := newReplica(t, d, "mine"), newReplica(t, d, "other")
	a.has("mine")
	b.has("mine")
	if old, err := os.ReadFile(b.path + ".old"); err != nil || !strings.Contains(string(old), `"other"`) {
		t.Errorf("toolsets.json.old: %v %s", err, old)
	}
	a.adds("more")
	b.has("mine", "more")
	if _, err := os.Stat(a.path + ".old"); err == nil {
		t.Error("a copy was kept as if it were a file of the operator's")
	}
}

func TestChangesAtTheSameTimeAreBothMade(t *testing.T) {
	d := &documents{}
	a, b := newReplica(t, d, "first"), newReplica(t, d)
	a.has("first")
	d.before = func() { b.adds("of-b") }
	a.Update(t.Context(), adding("of-a"))
	a.has("first", "of-a", "of-b")
}

func TestWithoutTheEngineToolsetsCanBeReadOnly(t *testing.T) {
	d := &documents{}
	a, late := newReplica(t, d, "one"), newReplica(t, d, "local")
	a.has("one")
	d.down = errors.New("no engine")
	err := a.Update(t.Context(), adding("two"))
	if !errors.Is(err, toolset.ErrUnavailable) || !strings.Contains(err.Error(), "no engine") {
		t.Errorf("the change got %v", err)
	}
	a.has("one")
	late.has("local") // its copy, as it knows nothing else
	d.down = nil
	a.adds("two")
}

func TestWhatTheEngineLosesIsPutBack(t *testing.T) {
	d := &documents{}
	a, b := newReplica(t, d), newReplica(t, d)
	a.adds("one")
	b.has("one")
	text, version := d.text, d.version
	a.adds("two")
	d.text, d.version = text, version // as after a failover
	a.has("one", "two")
	b.has("one", "two")
	d.text, d.version = nil, 0
	b.has("one", "two")
	a.has("one", "two")
}

// A replica that was away for long does not undo what happened since the engine lost everything.
func TestADocumentOfAnotherGenerationCounts(t *testing.T) {
	d := &documents{}
	a, away := newReplica(t, d), newReplica(t, d)
	for _, name := range []string{"a1", "a2", "a3", "a4"} {
		a.adds(name)
	}
	away.has("a1", "a2", "a3", "a4")
	d.text, d.version = nil, 0
	a.has("a1", "a2", "a3", "a4")
	a.Update(t.Context(), func(all map[string]toolset.Set) error {
		delete(all, "a1")
		return nil
	})
	away.has("a2", "a3", "a4")
}

func TestAFileThatCannotBeReadIsNotReplacedByAChange(t *testing.T) {
	d := &documents{}
	r := newReplica(t, d, "x")
	if err := os.WriteFile(r.path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Update(t.Context(), adding("y")); err == nil || errors.Is(err, toolset.ErrUnavailable) {
		t.Errorf("the change got %v", err)
	}
	if d.version != 0 {
		t.Error("a document was made")
	}
}

// An engine that does not answer makes one reader wait, and the next one ask again a while later.
// One that is not there is asked each time.
func TestReadersDoNotAllWaitForTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &documents{}
		a, b := newReplica(t, d), newReplica(t, d)
		a.adds("one")
		b.has("one")
		d.down = errors.New("connection refused")
		b.has("one")
		d.down = nil
		a.adds("two")
		b.has("one", "two")
		d.silent = true
		began := time.Now()
		for range 10 {
			b.has("one", "two")
		}
		if took := time.Since(began); took != readTime {
			t.Errorf("10 readers waited %v", took)
		}
		d.silent = false
		a.adds("three")
		time.Sleep(2 * time.Second)
		b.has("one", "three", "two")
	})
}
