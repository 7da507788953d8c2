package engine

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	client "github.com/valkey-io/valkey-go"

	"toolman/fixtures/valkey"
)

// TestNothingReadable looks for what was stored in all keys and values of the engine.
func TestNothingReadable(t *testing.T) {
	s := valkey.Start(t)
	a := joined(t, s.URL, "aaaaaaaa")
	words := []string{"unit-of-alice", "session-1234", "record-text", "shelf-name", "shelf-text", "alice@example.com", "10.1.2.3", string(secretA)}
	put(t, a, "unit-of-alice", "session-1234", `{"tools":["record-text"]}`)
	if ok, err := a.SetDocument(soon(t), "shelf-name", []byte("shelf-text"), 0); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, err := a.Take(soon(t), "alice@example.com", 1, 1, 10); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, key := range s.Keys() {
		if !strings.HasPrefix(key, "{toolman:test}:") {
			t.Errorf("the key %s", key)
		}
		kinds[strings.Split(key, ":")[2]] = true
		value := ""
		if strings.HasSuffix(key, ":replicas") {
			value = s.Command("SMEMBERS", key)
		} else {
			value = s.Command("GET", key)
		}
		for _, word := range words {
			if strings.Contains(key+value, word) {
				t.Errorf("the key %s has %q: %q", key, word, value)
			}
		}
	}
	for _, kind := range strings.Fields("k r w o s t m replicas up grace") {
		if !kinds[kind] {
			t.Errorf("there is no key %s", kind)
		}
	}
}

// TestForeignValues refuses what someone else has written, or moved.
func TestForeignValues(t *testing.T) {
	s := valkey.Start(t)
	a := joined(t, s.URL, "aaaaaaaa")
	put(t, a, "unit", "key", "record")
	put(t, a, "unit", "key 2", "record 2")
	k := a.keys.Load()
	one, two := k.name(a.base, "s", "key"), k.name(a.base, "s", "key 2")
	s.Command("RENAME", one, two)
	if record, err := a.Get(soon(t), "key 2"); err == nil {
		t.Errorf("a record of another session: %q", record)
	}
	s.Command("SET", k.name(a.base, "o", "unit"), "not a replica")
	if owner, err := a.Owner(soon(t), "unit"); err == nil {
		t.Errorf("owner %q", owner)
	}
	for _, text := range []string{"x", "7:x", ":"} {
		s.Command("SET", k.name(a.base, "t", "d"), text)
		if _, _, err := a.Document(soon(t), "d"); err == nil {
			t.Errorf("the document %q", text)
		}
	}
}

func TestRotation(t *testing.T) {
	s := valkey.Start(t)
	with := func(secrets ...[]byte) func(*Options) {
		return func(o *Options) { o.Secrets = secrets }
	}
	a := joined(t, s.URL, "aaaaaaaa", with(secretA))
	put(t, a, "unit", "key", "record")
	key := join(t, a)
	sealed := s.Command("GET", "{toolman:test}:k")

	if _, err := opened(t, s.URL, "bbbbbbbb", with(secretB)).Join(soon(t)); !errors.Is(err, ErrSecrets) {
		t.Errorf("with another secret: %v", err)
	}
	if s.Command("GET", "{toolman:test}:k") != sealed {
		t.Error("the key was replaced")
	}
	b := joined(t, s.URL, "bbbbbbbb", with(secretB, secretA))
	if join(t, b) != key || s.Command("GET", "{toolman:test}:k") == sealed {
		t.Error("another key, or it is still sealed with the old secret")
	}
	wantRecord(t, b, "key", "record")
	if members, _ := beat(t, a); len(members) != 2 { // a cannot open the key now, and does not need to
		t.Errorf("%+v", members)
	}
	if join(t, joined(t, s.URL, "cccccccc", with(secretB))) != key {
		t.Error("another key")
	}
}

func TestSwap(t *testing.T) {
	s := valkey.Start(t)
	a := joined(t, s.URL, "aaaaaaaa")
	sealed := s.Command("GET", "{toolman:test}:k")
	swap := func(old, sealed string) bool {
		t.Helper()
		swapped, err := run(soon(t), a, func(ctx context.Context, c client.Client) (bool, error) { return a.swap(ctx, c, old, sealed) })
		if err != nil {
			t.Fatal(err)
		}
		return swapped
	}
	if swap("other", "new") || s.Command("GET", "{toolman:test}:k") != sealed {
		t.Error("a key that another replica has sealed was replaced")
	}
	if !swap(sealed, "new") || s.Command("GET", "{toolman:test}:k") != "new" {
		t.Error("the key was not replaced")
	}
}

func TestJoinRace(t *testing.T) {
	s := valkey.Start(t)
	keys := make([][32]byte, 8)
	var all sync.WaitGroup
	for i := range keys {
		e := opened(t, s.URL, "aaaaaaa"+string(rune('a'+i)), func(o *Options) {
			if i%2 == 0 {
				o.Secrets = [][]byte{secretA, secretB}
			} else {
				o.Secrets = [][]byte{secretB, secretA}
			}
		})
		all.Go(func() {
			var err error
			if keys[i], err = e.Join(soon(t)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, key := range keys {
		if key != keys[0] {
			t.Fatal("replicas have different keys")
		}
	}
}

// TestOlderKeyStays has an engine forget the key while a new replica makes one.
func TestOlderKeyStays(t *testing.T) {
	for _, newFirst := range []bool{false, true} {
		s := valkey.Start(t)
		old := joined(t, s.URL, "aaaaaaaa")
		key := join(t, old)
		time.Sleep(2 * time.Millisecond) // a later millisecond
		s.Flush()
		late := joined(t, s.URL, "bbbbbbbb")
		if join(t, late) == key {
			t.Fatal("the engine did not forget the key")
		}
		if newFirst {
			beat(t, late)
		}
		beat(t, old)
		if _, _, err := late.Beat(soon(t), Lease{}); err != ErrRejoin {
			t.Errorf("a Beat with a key that is not the cluster's: %v", err)
		}
		if _, err := late.Get(soon(t), "key"); err != ErrNotJoined {
			t.Error(err)
		}
		if join(t, late) != key || join(t, old) != key {
			t.Error("another key")
		}
		beat(t, late)
		if members, _ := beat(t, old); len(members) != 2 {
			t.Errorf("%+v", members)
		}
	}
}
