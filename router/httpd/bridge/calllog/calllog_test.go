package calllog

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolman/router/budget"
)

func same(text []byte) []byte { return text }

func TestTheEndOfACallLog(t *testing.T) {
	long := strings.Repeat("x", entryBytes)
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
	for _, e := range (File{"s", path}).Read(same) {
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s\n", text)
	}
	want := `{"timestamp":"2026-01-02T02:04:05.5Z","server":"s","tool":"read","input":{"a":1},"result":{"b":2}}
{"timestamp":"2026-01-02T03:04:05Z","server":"s","tool":"write","input":null,"error":{"message":"no"}}
{"timestamp":"2026-01-02T03:04:06Z","server":"s","tool":"long","input":null,"truncated":true}
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
	all := (File{"s", path}).Read(same)
	if n := len(all); n == 0 || n*50 > tailBytes || all[n-1].Tool != "t39999" {
		t.Errorf("%d entries", n)
	}
	if all := (File{"s", filepath.Dir(path)}).Read(same); all != nil {
		t.Errorf("a folder has %d entries", len(all))
	}
}

func TestTheRingIsBounded(t *testing.T) {
	var few, large Log
	for i := range 3 * maxEntries {
		few.Add(Entry{Tool: fmt.Sprint(i), Timestamp: time.Unix(int64(i), 0)})
		large.Add(Entry{Tool: fmt.Sprint(i), Result: make([]byte, entryBytes)})
	}
	last := ""
	for _, e := range few.Find(func(*Entry) bool { return true }) {
		last = e.Tool
	}
	if few.calls != maxEntries || last != fmt.Sprint(3*maxEntries-1) {
		t.Errorf("%d entries, the last is %s", few.calls, last)
	}
	if large.bytes > maxBytes || large.calls < maxBytes/entryBytes-2 {
		t.Errorf("%d entries of %d bytes", large.calls, large.bytes)
	}
}

func TestOneClientsCallsDoNotDriveOutThoseOfOthers(t *testing.T) {
	var r Log
	honest := budget.Principal{Issuer: "honest", Path: "reader"}
	for i := range 100 {
		r.Add(Entry{Who: honest, Tool: fmt.Sprint(i)})
	}
	for range 2 * maxEntries {
		r.Add(Entry{Who: budget.Principal{Issuer: "many"}})
	}
	for range 2 * maxBytes / entryBytes {
		r.Add(Entry{Who: budget.Principal{Issuer: "large"}, Input: make([]byte, entryBytes)})
	}
	n := len(r.Find(func(e *Entry) bool { return e.Who == honest }))
	if n != 100 || r.calls > maxEntries || r.bytes > maxBytes {
		t.Errorf("%d of 100 calls are left, of %d with %d bytes", n, r.calls, r.bytes)
	}
}
