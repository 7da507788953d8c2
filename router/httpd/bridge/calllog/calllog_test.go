package calllog

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"toolman/router/budget"
)

// readAll are the records of a file.
func readAll(l *Log, path string) (all []*Entry) {
	for _, r := range l.read(path, []string{"s"}) {
		all = append(all, r.Entry)
	}
	return all
}

func TestTheEndOfACallLog(t *testing.T) {
	long := strings.Repeat("x", MaxContent)
	lines := []string{
		`{"timestamp":"2026-01-02T03:04:05.5+01:00","tool":"read","input":{"a":1},"result":{"b":2}}`,
		`{"timestamp":1767323045000,"tool":"write","input":null,"error":{"message":"no"}}`,
		`garbage`, ``, `[1]`, `{"tool":"no time"}`, `{"timestamp":"2026-01-02T03:04:05Z"}`, `{"timestamp":"yesterday","tool":"x"}`, `{"timestamp":"2026-01-02T03:04:05Z","tool":3}`,
		`{"timestamp":"2026-01-02T03:04:06Z","tool":"long","input":"` + long + `"}`,
		`{"timestamp":"2026-01-02T03:04:07Z","tool":"torn`,
	}
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, e := range readAll(New(Options{}), path) {
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s\n", text)
	}
	want := `{"timestamp":"2026-01-02T02:04:05.5Z","server":"s","tool":"read","input":{"a":1},"result":{"b":2},"recorded_by":"server"}
{"timestamp":"2026-01-02T03:04:05Z","server":"s","tool":"write","input":null,"error":{"message":"no"},"recorded_by":"server"}
{"timestamp":"2026-01-02T03:04:06Z","server":"s","tool":"long","input":null,"truncated":true,"recorded_by":"server"}
`
	if got.String() != want {
		t.Errorf("got\n%s, want\n%s", got.String(), want)
	}
}

func TestOnlyTheEndOfALongCallLogIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	var text strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&text, `{"timestamp":"2026-01-02T03:04:05Z","tool":"t%d","input":{}}`+"\n", i)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	all := readAll(New(Options{}), path)
	if n := len(all); n == 0 || n*50 > tailBytes || all[n-1].Tool != "t39999" {
		t.Errorf("%d entries", n)
	}
	if all := readAll(New(Options{}), filepath.Dir(path)); all != nil {
		t.Errorf("a folder has %d entries", len(all))
	}
}

func TestTheLogIsBounded(t *testing.T) {
	few, large := New(Options{}), New(Options{})
	for i := range 3 * maxEntries {
		few.store(&Entry{Tool: fmt.Sprint(i), Timestamp: time.Unix(int64(i), 0)})
		large.store(&Entry{Tool: fmt.Sprint(i), Result: make([]byte, MaxContent)})
	}
	all := few.Find(Query{Limit: maxEntries})
	if last := all[len(all)-1].Tool; few.calls != maxEntries || last != fmt.Sprint(3*maxEntries-1) {
		t.Errorf("%d entries, the last is %s", few.calls, last)
	}
	if large.bytes > maxBytes || large.calls < maxBytes/MaxContent-2 {
		t.Errorf("%d entries of %d bytes", large.calls, large.bytes)
	}
}

func TestOneClientsCallsDoNotDriveOutThoseOfOthers(t *testing.T) {
	l := New(Options{})
	honest := budget.Principal{Issuer: "honest", Path: "reader"}
	for i := range 100 {
		l.store(&Entry{who: honest, Tool: fmt.Sprint(i)})
	}
	for range 2 * maxEntries {
		l.store(&Entry{who: budget.Principal{Issuer: "many"}})
	}
	for range 2 * maxBytes / MaxContent {
		l.store(&Entry{who: budget.Principal{Issuer: "large"}, Input: make([]byte, MaxContent)})
	}
	n := len(l.Find(Query{Of: &honest, Limit: 1000}))
	if n != 100 || l.calls > maxEntries || l.bytes > maxBytes {
		t.Errorf("%d of 100 calls are left, of %d with %d bytes", n, l.calls, l.bytes)
	}
}

func TestTheQueueIsBounded(t *testing.T) {
	var q queue
	for i := range maxEntries + 10 {
		q.add(&Call{Tool: fmt.Sprint(i), Result: make([]byte, MaxContent)})
	}
	bytes := q.bytes
	all := q.take()
	if len(all) != maxEntries || all[0].Tool != "10" || bytes > maxPendingBytes {
		t.Errorf("%d calls of %d bytes, the first is %s", len(all), bytes, all[0].Tool)
	}
	if c := all[1000]; !c.Cut || !c.InputCut || c.Result != nil {
		t.Errorf("a call that is too much has %d bytes", len(c.Result))
	}
	if c := all[maxEntries-1]; c.Cut || c.Result == nil {
		t.Error("the latest call has lost its result")
	}
}

func TestABusyClientDoesNotReplaceTheCallsOfOthers(t *testing.T) {
	l := New(Options{})
	quiet, busy := budget.Principal{Issuer: "quiet"}, budget.Principal{Issuer: "busy"}
	for range 10 {
		l.Add(&Call{Principal: quiet})
	}
	for range 2 * maxEntries {
		l.Add(&Call{Principal: busy})
	}
	if n := len(l.Find(Query{Of: &quiet, Limit: 100})); n != 10 {
		t.Errorf("%d of 10 calls are left", n)
	}
}

func TestCallsAreRedactedAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var redacted atomic.Int32
		l := New(Options{Scrub: func(text []byte) []byte { redacted.Add(1); return text }})
		l.Add(&Call{Server: "s", Input: []byte("{}")})
		time.Sleep(redactAfter - 1)
		if n := redacted.Load(); n != 0 {
			t.Errorf("%d are redacted at once", n)
		}
		time.Sleep(2 * time.Nanosecond)
		synctest.Wait()
		if n := redacted.Load(); n != 1 {
			t.Errorf("%d are redacted after %v", n, redactAfter)
		}
		l.Add(&Call{Server: "s", Input: []byte("{}")})
		if l.Find(Query{Limit: 9}); redacted.Load() != 2 {
			t.Error("a reader waits for what is not redacted")
		}
	})
}
