package jsonrpc

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestNumbersAreWrittenAsStrconvWritesThem(t *testing.T) {
	try := func(n uint64) {
		t.Helper()
		want := strconv.FormatUint(n, 10)
		if got := string(appendNumber([]byte("x"), n)); got != "x"+want {
			t.Fatalf("%d is written as %s", n, got)
		}
		if got, ok := ParseID([]byte(want)); ok != (n != 0 && len(want) <= 16) || ok && got != n {
			t.Fatalf("%s is read as %d, %v", want, got, ok)
		}
	}
	for _, n := range []uint64{0, 1<<53 - 1, 1 << 63, 1<<64 - 1} {
		try(n)
	}
	for n, digits := uint64(1), 0; digits < 18; n, digits = n*10, digits+1 {
		try(n - 1)
		try(n)
		try(n + 1)
	}
	for range 1_000_000 {
		try(rand.Uint64() >> rand.IntN(64))
	}
	for n := range uint64(10_000) { // all that the quotients are of
		try(n)
		try(n * 10_000)
	}
}
