package jsonrpc

import (
	"strings"
	"testing"
)

func TestPath(t *testing.T) {
	for _, tt := range []struct{ name, frame, value, want string }{
		{"params themselves", `{"jsonrpc":"2.0","method":"a","params":{"x":1}}`, `{"x":1}`, "params"},
		{"a member of a member", `{"jsonrpc":"2.0","method":"a","params":{"a":{"y":2},"b":{"x":1}}}`, `1`, "params.b.x"},
		{"in a list", `{"jsonrpc":"2.0","method":"a","params":{"a":[{"x":1}]}}`, `{"x":1}`, "params.a"},
		{"in a result", `{"jsonrpc":"2.0","id":5,"result":{"task":{"x":1}}}`, `{"x":1}`, "result.task"},
		{"in an error", `{"jsonrpc":"2.0","id":5,"error":{"data":{"x":1}}}`, `{"x":1}`, "error.data"},
		{"elsewhere", `{"jsonrpc":"2.0","method":"a","params":{},"x":{"y":1}}`, `{"y":1}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := mustScan(t, tt.frame)
			lo := strings.Index(tt.frame, tt.value)
			if got := m.Path(Span{lo, lo + len(tt.value)}); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Whoever reads it should find the member in what they have written.
func TestErrorsOfMembersSayWhichAndWhere(t *testing.T) {
	m := mustScan(t, `{"jsonrpc":"2.0","method":"a","params":{"Name":1,"a":{"b":1,"\u0062":2}}}`)
	_, err := m.Param("name")
	if got, want := err.Error(), `in params: the member "Name" is spelled almost like name`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	a, err := m.Param("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = m.Get(a, "b"); err == nil || err.Error() != "in params.a: the member b stands there twice" {
		t.Errorf("got %v", err)
	}
	item := Message{Frame: []byte(`{"b":1,"B\u0000` + strings.Repeat("x", 100) + `":2}`)}
	_, err = item.Get(Span{0, len(item.Frame)}, "b")
	if want := `in the object: the member "B\x00` + strings.Repeat("x", 62) + `" is spelled almost like b`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
