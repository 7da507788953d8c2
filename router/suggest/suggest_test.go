package suggest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// levenshtein counts edits with the whole table.
func levenshtein(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal, row[j+1] = row[j+1], min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func TestDistanceIsLevenshteins(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		letters := make([]byte, rng.IntN(maxLen+1))
		for i := range letters {
			letters[i] = "abc_"[rng.IntN(4)]
		}
		return string(letters)
	}
	for range 5000 {
		a, b, limit := word(), word(), rng.IntN(maxLen)
		if len(a) == 0 {
			continue
		}
		if got, want := For(a).distance(b, limit), min(levenshtein(a, b), limit+1); got != want {
			t.Fatalf("distance of %q and %q up to %d: got %d, want %d", a, b, limit, got, want)
		}
	}
}

func TestOnlyTheStartOfALongNameIsCompared(t *testing.T) {
	long := strings.Repeat("ab", maxLen)
	if d := For(long).distance(long[:maxLen], 5); d != 0 {
		t.Errorf("got %d", d)
	}
	if d := For("").distance("a", 5); d != 6 {
		t.Errorf("an empty name is near %q: distance %d", "a", d)
	}
	if got := For(strings.Repeat("İ", maxLen)).wanted; len(got) > maxLen {
		t.Errorf("folded to %d bytes", len(got))
	}
}

func TestNearest(t *testing.T) {
	known := []string{"command", "env", "start_timeout", "call_timeout", "enabled", "Dev-Team"}
	for name, want := range map[string]string{
		"comand": "command", "Command": "command", "start-timeout": "start_timeout", "timeout": "start_timeout", "enable": "enabled",
		"dev_team": "Dev-Team", "evn": "env", "foo": "", "": "", "x": "", "zzzzzzzzzzzz": "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("nearest to %q: got %q, want %q", name, got, want)
		}
	}
	if got := Nearest("a", nil); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestBestNamesComeFirst(t *testing.T) {
	s := For("fs_raed")
	for _, name := range []string{"fs_raised", "fs_read", "fs_raed_all", "gh_issue", "other_fs_raed"} {
		s.Add(name, name, name[strings.IndexByte(name, '_')+1:])
	}
	if got, want := s.Best(3), []string{"other_fs_raed", "fs_raed_all", "fs_raised"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
