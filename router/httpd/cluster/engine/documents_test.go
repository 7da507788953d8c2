package engine

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"toolman/fixtures/valkey"
)

func TestDocumentRace(t *testing.T) {
	s := valkey.Start(t)
	engines := []*Engine{joined(t, s.URL, "aaaaaaaa"), joined(t, s.URL, "bbbbbbbb")}
	if text, version, err := engines[0].Document(soon(t), "shelf"); text != nil || version != 0 || err != nil {
		t.Errorf("%q, %d, %v before there is one", text, version, err)
	}
	const each = 10
	var all sync.WaitGroup
	for i := range 4 {
		e := engines[i%2]
		all.Go(func() {
			for n := range each {
				for { // read, change, write
					text, version, err := e.Document(soon(t), "shelf")
					if err != nil {
						t.Error(err)
						return
					}
					ok, err := e.SetDocument(soon(t), "shelf", fmt.Appendf(text, "%d.%d\n", i, n), version)
					if err != nil {
						t.Error(err)
						return
					}
					if ok {
						break
					}
				}
			}
		})
	}
	all.Wait()
	text, version, err := engines[1].Document(soon(t), "shelf")
	if err != nil || version != 4*each || bytes.Count(text, []byte("\n")) != 4*each {
		t.Errorf("version %d, %v:\n%s", version, err, text)
	}
	for i := range 4 {
		if !strings.Contains(string(text), fmt.Sprintf("%d.%d\n", i, each-1)) {
			t.Errorf("a change of writer %d is lost", i)
		}
	}
	if ok, err := engines[0].SetDocument(soon(t), "shelf", nil, 0); ok || err != nil {
		t.Errorf("a new document over an old one: %t, %v", ok, err)
	}
	if ok, err := engines[0].SetDocument(soon(t), "shelf", nil, version); !ok || err != nil {
		t.Error(ok, err)
	}
	if text, version, err := engines[1].Document(soon(t), "shelf"); text == nil || len(text) > 0 || version != 4*each+1 || err != nil {
		t.Errorf("an empty one: %q, %d, %v", text, version, err)
	}
	if _, err := engines[0].SetDocument(soon(t), "shelf", make([]byte, MaxDocument+1), version); err == nil {
		t.Error("a document of any size was stored")
	}
}

func TestTake(t *testing.T) {
	s := valkey.Start(t)
	a, b := joined(t, s.URL, "aaaaaaaa"), joined(t, s.URL, "bbbbbbbb")
	take := func(e *Engine, n int, rate float64, burst int) int {
		t.Helper()
		granted, err := e.Take(soon(t), "bucket", n, rate, burst)
		if err != nil {
			t.Fatal(err)
		}
		return granted
	}
	if first, second, third := take(a, 6, 0.001, 10), take(b, 6, 0.001, 10), take(a, 6, 0.001, 10); first != 6 || second != 4 || third != 0 {
		t.Errorf("granted %d, %d, %d of 10", first, second, third)
	}
	begun, total := time.Now(), 0
	eventually(t, "it fills", func() bool { total += take(b, 5, 100, 10); return total >= 20 })
	if most := 10 + int(time.Since(begun).Seconds()*100) + 1; total > most {
		t.Errorf("granted %d, at most %d are due", total, most)
	}
	for _, wrong := range []struct {
		n    int
		rate float64
		size int
	}{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {1, -1, 1}} {
		if _, err := a.Take(soon(t), "bucket", wrong.n, wrong.rate, wrong.size); err == nil {
			t.Errorf("%+v was accepted", wrong)
		}
	}
	if ttl := s.Command("PTTL", a.keys.Load().name(a.base, "m", "bucket")); ttl == "-1" {
		t.Error("a bucket stays for ever")
	}
}
