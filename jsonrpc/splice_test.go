package jsonrpc

import (
	"fmt"
	"reflect"
	"slices"
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

func TestAnEditedMessageIsAsScanFindsIt(t *testing.T) {
	var many strings.Builder // more members than a Message remembers
	for range maxMembers + 1 {
		many.WriteString(`"x":1,`)
	}
	for name, frame := range map[string]string{
		"the id first":       `{"jsonrpc":"2.0","id":"a","method":"m","params":{"name":"n","_meta":{"token":"t"},"z":[1]}}`,
		"the id last":        ` {"method":"m","params":{"_meta":{"token":12345678},"name":"n"},"jsonrpc":"2.0","id":1234567890}`,
		"the id in between":  `{"params":{"_meta":{"token":"t"}},"id":"a long one, far longer than the new","method":"m","jsonrpc":"2.0"}`,
		"without params":     `{"jsonrpc":"2.0","id":1,"method":"m"}`,
		"many members":       `{"jsonrpc":"2.0","id":1,"params":{` + many.String() + `"_meta":{"token":1}},"method":"m"}`,
		"keys with escapes":  `{"jsonrpc":"2.0","id":1,"params":{"\u006eame":1,"_meta":{"token":1}},"method":"m"}`,
		"params in an array": `{"jsonrpc":"2.0","id":1,"params":[1,2],"method":"m"}`,
		"an answer":          `{"jsonrpc":"2.0","id":7,"result":{"a":1}}`,
		"an error":           `{"error":{"code":1,"message":"x"},"jsonrpc":"2.0","id":7}`,
	} {
		for i, id := range []string{`9`, `123456789012345678`, `"a"`, `123456789012345678`} {
			room := 50 * (i / 3)
			t.Run(fmt.Sprint(name, " ", id, " with room for ", room), func(t *testing.T) {
				var got, want Message
				if err := Scan(append(make([]byte, 0, len(frame)+room), frame...), &got); err != nil {
					t.Fatal(err)
				}
				m := got
				edits := []Edit{{Span: m.ID, New: []byte(id)}}
				if meta, _ := m.Param("_meta"); meta.Present() {
					token, err := m.Get(meta, "token")
					if err != nil {
						t.Fatal(err)
					}
					edits = append([]Edit{{Span: token, New: []byte(`"new"`)}}, edits...)
				}
				var copied Message
				if err := m.Spliced(&copied, make([]byte, room), slices.Clone(edits)...); err != nil {
					t.Fatal(err)
				}
				spliced := AppendSplice(nil, []byte(frame), slices.Clone(edits)...)
				if got.Edit(edits...); string(got.Frame) != string(spliced) {
					t.Errorf("got %s\nwant %s", got.Frame, spliced)
				}
				if err := Scan(got.Frame, &want); err != nil {
					t.Fatalf("%v in %s", err, got.Frame)
				}
				if string(want.Bytes(want.ID)) != id {
					t.Errorf("got %s", got.Frame)
				}
				for i := max(0, want.nparams); i < maxMembers; i++ { // what is behind them means nothing
					want.params[i], got.params[i], copied.params[i] = Member{}, Member{}, Member{}
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("got  %+v\nwant %+v", got, want)
				}
				if !reflect.DeepEqual(copied, want) {
					t.Errorf("got  %+v\nwant %+v", copied, want)
				}
			})
		}
	}
}

func TestACopyWithOtherMembersIsAsScanFindsIt(t *testing.T) {
	const frame = `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1,"b":{"c":2},"d":3}}`
	var m, bare Message
	if err := Scan([]byte(frame), &m); err != nil {
		t.Fatal(err)
	}
	if err := Scan([]byte(`{"jsonrpc":"2.0","id":1,"method":"m"}`), &bare); err != nil {
		t.Fatal(err)
	}
	b, err := m.ParamMember("b")
	if err != nil {
		t.Fatal(err)
	}
	id := Edit{m.ID, []byte(`"another"`)}
	for name, c := range map[string]struct {
		of    *Message
		edits []Edit
	}{
		"one is taken out":    {&m, AppendRemoval([]Edit{id}, m.Frame, m.Params, b)},
		"one is put in":       {&m, AppendInsertion([]Edit{id}, m.Frame, m.Params, []byte(`"x":[5],`))},
		"all are others":      {&m, []Edit{id, {m.Params, []byte(`{"y":6}`)}}},
		"there were none":     {&bare, []Edit{{Span{bare.Method.Hi, bare.Method.Hi}, []byte(`,"params":{"z":7}`)}}},
		"nothing is changed":  {&m, nil},
		"another is in place": {&m, []Edit{{b.Value, []byte(`{"c":"other"}`)}, id}},
	} {
		t.Run(name, func(t *testing.T) {
			var got, want Message
			spliced := AppendSplice(nil, c.of.Frame, slices.Clone(c.edits)...)
			if err := c.of.Spliced(&got, nil, c.edits...); err != nil {
				t.Fatal(err)
			}
			if err := Scan(spliced, &want); err != nil {
				t.Fatal(err)
			}
			for i := max(0, want.nparams); i < maxMembers; i++ {
				want.params[i], got.params[i] = Member{}, Member{}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
	if err := m.Spliced(&bare, nil, Edit{Span{5, 5}, []byte("{")}); err == nil {
		t.Error("a frame that is none any more is no error")
	}
}

// Edits may bring line breaks with them, which Scan has not seen.
func TestEditedMessagesAreKnownToBeOneLine(t *testing.T) {
	for value, want := range map[string]bool{`{"a":1}`: true, "{\n}": false, "[\r]": false} {
		m := mustScan(t, call100)
		at, err := m.Param("arguments")
		if err != nil {
			t.Fatal(err)
		}
		var copied Message
		if err := m.Spliced(&copied, nil, Edit{at, []byte(value)}); err != nil || copied.oneLine != want {
			t.Errorf("Spliced with %q: oneLine is %v, %v", value, copied.oneLine, err)
		}
		if m.Edit(Edit{at, []byte(value)}); m.oneLine != want {
			t.Errorf("Edit with %q: oneLine is %v", value, m.oneLine)
		}
		if m.OneLine(); !m.oneLine || hasLineBreak(m.Frame) {
			t.Errorf("%q is not one line", m.Frame)
		}
	}
}

func TestOneLine(t *testing.T) {
	for frame, want := range map[string]string{
		"": "", "{}": "{}", "\n{\r\n\"a\\n\":\n\n1\r}\n": ` {  "a\n":  1 } `, "\r": " ",
	} {
		got := []byte(frame)
		if OneLine(got); string(got) != want {
			t.Errorf("%q: got %q, want %q", frame, got, want)
		}
	}
}
