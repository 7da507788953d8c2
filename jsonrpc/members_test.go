package jsonrpc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// find looks for members of an object that is the result of a message.
func find(t testing.TB, object string, keys ...string) (*Message, []Member) {
	t.Helper()
	m := mustScan(t, `{"jsonrpc":"2.0","id":1,"result":`+object+`}`)
	found := make([]Member, len(keys))
	if err := m.Find(m.Result, keys, found); err != nil {
		t.Fatalf("%s: %v", object, err)
	}
	return m, found
}

// spliced applies edits to the result of a message and returns the result.
func spliced(m *Message, edits []Edit) string {
	after := string(AppendSplice(nil, m.Frame, edits...))
	return after[m.Result.Lo : len(after)-(len(m.Frame)-m.Result.Hi)]
}

func TestFindFindsSeveralMembersInOneWalk(t *testing.T) {
	m, found := find(t, `{"a":1, "\u0062" :{"c":2},"":"e","d":null}`, "d", "b", "c", "")
	var got []string
	for _, f := range found {
		got = append(got, string(m.Bytes(f.Key))+"="+string(m.Bytes(f.Value)))
	}
	if want := []string{`d=null`, `\u0062={"c":2}`, `=`, `="e"`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if found[2].Present() || !found[3].Present() {
		t.Error("c is absent, the empty key is not")
	}
}

func TestFindForgetsWhatStoodThereBefore(t *testing.T) {
	m := mustScan(t, `{"jsonrpc":"2.0","id":1,"result":[{"a":1}]}`)
	for _, object := range []Span{m.Result, {}} {
		found := []Member{{Span{1, 2}, Span{3, 4}}}
		if err := m.Find(object, []string{"a"}, found); err != nil || found[0].Present() {
			t.Errorf("found %v, %v in what is no object", found, err)
		}
	}
}

func TestFindRefusesWhatCanBeReadTwoWays(t *testing.T) {
	for _, object := range []string{
		`{"a":1,"meta":2,"meta":3}`, `{"meta":1,"m\u0065ta":2}`, `{"Meta":1}`, `{"meta\u0000x":1}`, `{"meta":1,"META":2}`, `{"\u004deta":1}`,
	} {
		m := mustScan(t, `{"jsonrpc":"2.0","id":1,"result":`+object+`}`)
		var found [2]Member
		if _, ok := errors.AsType[*FormError](m.Find(m.Result, []string{"a", "meta"}, found[:])); !ok {
			t.Errorf("%s was accepted: %v", object, found)
		}
	}
}

func TestWalkShowsMembersAsTheyStand(t *testing.T) {
	m := mustScan(t, `{"jsonrpc":"2.0","id":1,"result":{"a":1, "\u0061" : [ ] ,"a":{"b":2}}}`)
	var got []string
	for one := range m.Walk(m.Result) {
		got = append(got, string(m.Bytes(one.Key))+"="+string(m.Bytes(one.Value)))
	}
	if want := []string{`a=1`, `\u0061=[ ]`, `a={"b":2}`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for range m.Walk(m.ID) {
		t.Error("a number has members")
	}
	for range m.Walk(m.Result) {
		break
	}
}

func TestParamMemberFindsKeyAndValue(t *testing.T) {
	for size, params := range map[string]string{"few": `{"a":1,"m\u0065ta" : {} }`, "many": padded(`"a":1,"m\u0065ta" : {} `)} {
		m := mustScan(t, `{"jsonrpc":"2.0","id":1,"method":"x","params":`+params+`}`)
		got, err := m.ParamMember("meta")
		if err != nil || string(m.Bytes(got.Key)) != `m\u0065ta` || string(m.Bytes(got.Value)) != "{}" {
			t.Errorf("%s members: %q, %q, %v", size, m.Bytes(got.Key), m.Bytes(got.Value), err)
		}
		if got, err := m.ParamMember("b"); err != nil || got.Present() {
			t.Errorf("%s members: %v, %v", size, got, err)
		}
	}
	for _, params := range []string{`{"meta":1,"meta":2}`, padded(`"Meta":1`)} {
		m := mustScan(t, `{"jsonrpc":"2.0","id":1,"method":"x","params":`+params+`}`)
		if got, err := m.ParamMember("meta"); err == nil {
			t.Errorf("%s was accepted: %v", params, got)
		}
	}
}

func TestAppendRemovalTakesCommasAlong(t *testing.T) {
	tests := []struct{ name, object, gone, want string }{
		{"the first", `{"a":1,"b":2,"c":3}`, "a", `{"b":2,"c":3}`},
		{"one in the middle", `{"a":1,"b":2,"c":3}`, "b", `{"a":1,"c":3}`},
		{"the last", `{"a":1,"b":2,"c":3}`, "c", `{"a":1,"b":2}`},
		{"neighbours at the start", `{"a":1,"b":2,"c":3}`, "ba", `{"c":3}`},
		{"neighbours at the end", `{"a":1,"b":2,"c":3}`, "cb", `{"a":1}`},
		{"both ends", `{"a":1,"b":2,"c":3}`, "ac", `{"b":2}`},
		{"every other one", `{"a":1,"b":2,"c":3,"d":4}`, "ac", `{"b":2,"d":4}`},
		{"all but a middle one", `{"a":1,"b":2,"c":3,"d":4,"e":5}`, "adbe", `{"c":3}`},
		{"all", `{"a":1,"b":2,"c":3}`, "cab", `{}`},
		{"the only one", `{"a":1}`, "a", `{}`},
		{"none", `{"a":1}`, "x", `{"a":1}`},
		{"from an empty object", `{ }`, "a", `{ }`},
		{"the first, with spaces", "{ \"a\" : 1 ,\n\t\"b\" : 2 }", "a", `{ "b" : 2 }`},
		{"the last, with spaces", "{ \"a\" : 1 ,\n\t\"b\" : 2 }", "b", `{ "a" : 1  }`},
		{"neighbours at the end, with spaces", "{ \"a\" :1 , \"b\" : 2\r\n, \"c\" : 3 }", "bc", `{ "a" :1  }`},
		{"all, with spaces", "{ \"a\" : 1 ,\n\t\"b\" : 2 }", "ab", `{}`},
		{"values full of commas and braces", `{"a":"},{","b":[{"a":","}],"c":"\",\""}`, "b", `{"a":"},{","c":"\",\""}`},
		{"an escaped key", `{"\u0061":1,"b":2}`, "a", `{"b":2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, found := find(t, tt.object, strings.Split(tt.gone, "")...)
			if got := spliced(m, AppendRemoval(nil, m.Frame, m.Result, found...)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAppendInsertionMindsTheLastComma(t *testing.T) {
	tests := []struct {
		name, object, gone string
		members            []string
		want               string
	}{
		{"before others", `{ "a":1}`, "", []string{`"x":9,`}, `{"x":9, "a":1}`},
		{"into an empty object", `{}`, "", []string{`"x":9,`}, `{"x":9}`},
		{"into an empty object with a space", `{ }`, "", []string{`"x":9,`}, `{"x":9 }`},
		{"two at once", `{}`, "", []string{`"x":8,"y":9,`}, `{"x":8,"y":9}`},
		{"two, one by one", `{"a":1}`, "", []string{`"x":8,`, `"y":9,`}, `{"y":9,"x":8,"a":1}`},
		{"two, one by one, into an empty object", `{}`, "", []string{`"x":8,`, `"y":9,`}, `{"y":9,"x":8}`},
		{"three, one by one, into an empty object", `{}`, "", []string{`"x":7,`, `"y":8,`, `"z":9,`}, `{"z":9,"y":8,"x":7}`},
		{"in place of the only member", `{"a":1}`, "a", []string{`"b":2,`}, `{"b":2}`},
		{"in place of all members", `{ "a":1 , "b":2 }`, "ab", []string{`"x":8,`, `"y":9,`}, `{"y":9,"x":8}`},
		{"in place of the first", `{"a":1,"b":2}`, "a", []string{`"x":9,`}, `{"x":9,"b":2}`},
		{"in place of the last", `{"a":1,"b":2}`, "b", []string{`"x":9,`}, `{"x":9,"a":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, found := find(t, tt.object, strings.Split(tt.gone, "")...)
			edits := AppendRemoval(nil, m.Frame, m.Result, found...)
			for _, members := range tt.members {
				edits = AppendInsertion(edits, m.Frame, m.Result, []byte(members))
			}
			if got := spliced(m, edits); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestEditsOfTwoObjectsShareASplice(t *testing.T) {
	m, found := find(t, `{"in":{"a":1,"t":5,"b":2},"b":{"a":3}}`, "in", "b")
	var inner [2]Member
	if err := m.Find(found[0].Value, []string{"a", "b"}, inner[:]); err != nil {
		t.Fatal(err)
	}
	edits := []Edit{{m.ID, []byte("77")}, {Span{inner[0].Value.Hi + 5, inner[0].Value.Hi + 6}, []byte("token")}}
	edits = AppendRemoval(edits, m.Frame, found[0].Value, inner[:]...)
	edits = AppendRemoval(edits, m.Frame, m.Result, found[1])
	edits = AppendInsertion(edits, m.Frame, m.Result, []byte(`"x":[],`))
	edits = AppendInsertion(edits, m.Frame, found[0].Value, []byte(`"y":{},`))
	got := string(AppendSplice(nil, m.Frame, edits...))
	if want := `{"jsonrpc":"2.0","id":77,"result":{"x":[],"in":{"y":{},"t":token}}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEditingMembersAllocatesNothing(t *testing.T) {
	m := mustScan(t, `{"jsonrpc":"2.0","id":1,"result":`+padded(`"resultType":"complete","content":[],"ttlMs":0`)+`}`)
	keys := [...]string{"resultType", "ttlMs", "cacheScope"}
	room := make([]Edit, 0, 8)
	insertion := []byte(`"x":1,`)
	allocates(t, "finding, removing and inserting", 0, func() {
		var found [3]Member
		if err := m.Find(m.Result, keys[:], found[:]); err != nil {
			t.Fatal(err)
		}
		edits := AppendRemoval(room, m.Frame, m.Result, found[0], found[1], found[2])
		if edits = AppendInsertion(edits, m.Frame, m.Result, insertion); len(edits) != 3 {
			t.Fatal(edits)
		}
	})
}

// FuzzMembers takes some members out of an object and puts others in, and checks that what stays is
// what was not named, byte for byte and in its order.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{ "a" : 1 , "b" : [ {} ] }`, `{"a":1,"b":2,"c":3,"d":4}`, `{"\u0061":"\"}","b":{"a":1}}`, `{"a":{"b":2},"e":",","":null}`,
		"{\n\"c\"\t:1e9,\r\"z\":\"\u00e9\"}", `{"A":1}`, `{"a":1,"a":2}`, `[]`,
	} {
		for mask := range uint8(8) {
			f.Add([]byte(seed), mask*5, mask%3)
		}
	}
	f.Fuzz(func(t *testing.T, object []byte, mask, insertions uint8) {
		var m Message
		if Scan([]byte(`{"jsonrpc":"2.0","id":1,"result":`+string(object)+`}`), &m) != nil || !m.IsObject(m.Result) {
			return
		}
		var keys []string
		for i, key := range []string{"a", "b", "c", "d", ""} {
			if mask>>i&1 == 1 {
				keys = append(keys, key)
			}
		}
		found := make([]Member, len(keys))
		if m.Find(m.Result, keys, found) != nil {
			return
		}
		var want []string
		for k, v := range Members(m.Frame, m.Result) {
			if !slices.Contains(keys, k) {
				want = append(want, k+"="+string(m.Bytes(v)))
			}
		}
		edits := AppendRemoval(nil, m.Frame, m.Result, found...)
		for i := range insertions % 4 {
			edits = AppendInsertion(edits, m.Frame, m.Result, fmt.Appendf(nil, `"+%d":%d,`, i, i))
			want = slices.Insert(want, 0, fmt.Sprintf("+%d=%d", i, i))
		}
		after := AppendSplice(nil, m.Frame, edits...)
		var n Message
		if err := Scan(after, &n); err != nil {
			t.Fatalf("%s became %s: %v", m.Frame, after, err)
		}
		var got []string
		for k, v := range Members(n.Frame, n.Result) {
			got = append(got, k+"="+string(n.Bytes(v)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s without %q became %s, want %q", m.Frame, keys, after, want)
		}
	})
}

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
