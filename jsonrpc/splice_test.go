package jsonrpc

import (
	"strings"
	"testing"
)

func TestAppendSpliceChangesOnlyWhatIsNamed(t *testing.T) {
	const frame = `0123456789`
	e := func(lo, hi int, with string) Edit { return Edit{Span{lo, hi}, []byte(with)} }
	tests := []struct {
		name  string
		edits []Edit
		want  string
	}{
		{"nothing", nil, `0123456789`},
		{"the start", []Edit{e(0, 2, "ab")}, `ab23456789`},
		{"the end", []Edit{e(8, 10, "ab")}, `01234567ab`},
		{"everything", []Edit{e(0, 10, "")}, ``},
		{"shorter", []Edit{e(2, 5, "-")}, `01-56789`},
		{"longer", []Edit{e(2, 3, "long")}, `01long3456789`},
		{"an insertion", []Edit{e(4, 4, "--")}, `0123--456789`},
		{"an insertion at the end", []Edit{e(10, 10, "--")}, `0123456789--`},
		{"four out of order", []Edit{e(9, 10, "D"), e(0, 1, "A"), e(5, 6, "C"), e(3, 3, "B")}, `A12B34C678D`},
		{"neighbours", []Edit{e(3, 5, "y"), e(1, 3, "x")}, `0xy56789`},
		{"an insertion before what is replaced, given last", []Edit{e(3, 5, "y"), e(3, 3, "x")}, `012xy56789`},
		{"two insertions at one place, in their order", []Edit{e(3, 3, "x"), e(3, 3, "y")}, `012xy3456789`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := string(AppendSplice([]byte("<"), []byte(frame), tt.edits...))
			if got != "<"+tt.want {
				t.Errorf("got %q, want %q", got, "<"+tt.want)
			}
		})
	}
}

func TestAppendSpliceRefusesOverlaps(t *testing.T) {
	defer func() {
		if why, _ := recover().(string); !strings.Contains(why, "overlap") {
			t.Errorf("recovered %q, want a word about overlaps", why)
		}
	}()
	AppendSplice(nil, []byte("0123456789"), Edit{Span{2, 5}, nil}, Edit{Span{4, 6}, nil})
}
