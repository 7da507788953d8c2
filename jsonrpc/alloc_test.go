package jsonrpc

import (
	"strings"
	"testing"
)

// allocates fails the test when f allocates more than budget, on average.
func allocates(t *testing.T, what string, budget float64, f func()) {
	t.Helper()
	f() // what is allocated once is
	if n := testing.AllocsPerRun(200, f); n > budget {
		t.Errorf("%s: %v allocations, the budget is %v", what, n, budget)
	}
}

func TestReadingAMessageAllocatesNothing(t *testing.T) {
	var m Message
	for name, frame := range map[string][]byte{
		"a call":               []byte(call100),
		"a reply of text":      textReply(10_000, proseLine),
		"a reply in Japanese":  textReply(10_000, kanjiLine),
		"a reply of trees":     treeReply(10_000),
		"a response to no one": []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`),
		"members nobody knows": []byte(`{"jsonrpc":"2.0","id":1,"method":"a","` + strings.Repeat("unknown", 20) + `":1,"params":` + padded(`"n":1`) + `}`),
		"nested 60 deep":       []byte(`{"jsonrpc":"2.0","id":1,"result":` + nest(60, true) + `}`),
	} {
		allocates(t, "Scan of "+name, 0, func() {
			if err := Scan(frame, &m); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestLookingIntoAMessageAllocatesNothing(t *testing.T) {
	few := mustScan(t, call100)
	many := mustScan(t, `{"jsonrpc":"2.0","id":1,"method":"a","params":`+padded(`"name":"x","ключ":1`)+`}`)
	for name, m := range map[string]*Message{"few": few, "many": many} {
		allocates(t, "Param, "+name+" members", 0, func() {
			at, err := m.Param("name")
			if err != nil || len(m.Text(at)) == 0 {
				t.Fatal(m.Text(at), err)
			}
			if at, err := m.Param("_meta"); err != nil || at.Present() {
				t.Fatal(at, err)
			}
		})
	}
}
