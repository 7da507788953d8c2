package suggest

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agnivade/levenshtein"
)

func TestDistanceIsLevenshteins(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		letters := make([]byte, rng.IntN(maxPattern+1))
		for i := range letters {
			letters[i] = "abc_"[rng.IntN(4)]
		}
		return string(letters)
	}
	for range 5000 {
		a, b, limit := word(), word(), rng.IntN(maxPattern)
		if len(a) == 0 {
			continue
		}
		if got, want := NewPattern(a).distance(b, limit), min(levenshtein.ComputeDistance(a, b), limit+1); got != want {
			t.Fatalf("distance of %q and %q up to %d: got %d, want %d", a, b, limit, got, want)
		}
	}
}

func TestOnlyTheStartOfALongNameIsCompared(t *testing.T) {
	long := strings.Repeat("ab", maxPattern)
	if d := NewPattern(long).distance(long[:maxPattern], 5); d != 0 {
		t.Errorf("got %d", d)
	}
	if d := NewPattern("").distance("a", 5); d != 6 {
		t.Errorf("nothing is near nothing: got %d", d)
	}
}
