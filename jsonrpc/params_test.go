package jsonrpc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// padded returns an object with the members given and enough others that a Message does not
// remember them all.
func padded(members string) string {
	var b strings.Builder
	for i := range maxMembers {
		fmt.Fprintf(&b, `"pad%d":{},`, i)
	}
	return "{" + b.String() + members + "}"
}

func TestParamCountsAKeyOnlyInItsOwnSpellingAndOnce(t *testing.T) {
	tests := []struct {
		name, members, want string
		refused             bool
	}{
		{name: "plain", members: `"name":"x"`, want: `"x"`},
		{name: "not first", members: `"a":1,"nam":2,"names":3,"name":[4]`, want: `[4]`},
		{name: "absent", members: `"a":1`},
		{name: "in an inner object only", members: `"a":{"name":1}`},
		{name: "escaped", members: `"\u006eame":"x"`, want: `"x"`},
		{name: "all escaped", members: `"\u006e\u0061\u006D\u0065":"x"`, want: `"x"`},
		{name: "null", members: `"name":null`, want: `null`},
		{name: "an empty key beside", members: `"":1,"name":2`, want: `2`},
		{name: "another key of this length", members: `"nose":1,"name":2`, want: `2`},
		{name: "other keys with escapes and accents", members: `"\n":1,"ñame":2,"naме":3,"name":4`, want: `4`},
		{name: "twice", members: `"name":1,"name":1`, refused: true},
		{name: "twice, once escaped", members: `"name":1,"n\u0061me":2`, refused: true},
		{name: "twice, the escaped one first", members: `"n\u0061me":1,"name":2`, refused: true},
		{name: "in capitals", members: `"NAME":1`, refused: true},
		{name: "with a capital", members: `"Name":1`, refused: true},
		{name: "with a capital inside", members: `"naMe":1`, refused: true},
		{name: "with an escaped capital", members: `"\u004eame":1`, refused: true},
		{name: "a look-alike before", members: `"Name":1,"name":2`, refused: true},
		{name: "a look-alike behind", members: `"name":1,"nAME":2`, refused: true},
		{name: "a NUL behind", members: `"name\u0000":1`, refused: true},
		{name: "a NUL before", members: `"\u0000name":1`, refused: true},
		{name: "a NUL and more behind", members: `"name\u0000more":1`, refused: true},
		{name: "a NUL inside", members: `"na\u0000me":1,"name":2`, want: `2`},
	}
	for _, tt := range tests {
		for size, params := range map[string]string{"few members": "{" + tt.members + "}", "many members": padded(tt.members)} {
			t.Run(tt.name+", "+size, func(t *testing.T) {
				m := mustScan(t, `{"jsonrpc":"2.0","id":1,"method":"a","params":`+params+`}`)
				for way, get := range map[string]func() (Span, error){
					"Param": func() (Span, error) { return m.Param("name") },
					"Get":   func() (Span, error) { return m.Get(m.Params, "name") },
				} {
					at, err := get()
					if _, ok := errors.AsType[*FormError](err); ok != tt.refused {
						t.Errorf("%s: got error %v, want one: %v", way, err, tt.refused)
					}
					if got := string(m.Bytes(at)); got != tt.want {
						t.Errorf("%s: got %q, want %q", way, got, tt.want)
					}
				}
			})
		}
	}
}

func TestParamFindsEveryOneOfManyMembers(t *testing.T) {
	for count := range 2*maxMembers + 2 {
		var b strings.Builder
		for i := range count {
			fmt.Fprintf(&b, `"k%d":%d,`, i, i)
		}
		m := mustScan(t, `{"jsonrpc":"2.0","id":1,"method":"a","params":{`+strings.TrimSuffix(b.String(), ",")+`}}`)
		for i := range count + 1 {
			at, err := m.Param(fmt.Sprint("k", i))
			if got := string(m.Bytes(at)); err != nil || i < count && got != fmt.Sprint(i) || i == count && got != "" {
				t.Errorf("k%d of %d: got %q, %v", i, count, got, err)
			}
		}
	}
}

// The long s folds to s and the Kelvin sign to k, for encoding/json too.
func TestParamKnowsLettersThatFoldToOthers(t *testing.T) {
	for key, twin := range map[string]string{"progressToken": "progreſſToken", "task": "tas\u212a", "requests": `reque\u017fts`} {
		m := mustScan(t, `{"jsonrpc":"2.0","id":1,"method":"a","params":{"`+twin+`":1}}`)
		if at, err := m.Param(key); err == nil {
			t.Errorf("%s beside %s: got %v, want an error", key, twin, at)
		}
		if at, err := m.Param("other"); err != nil || at.Present() {
			t.Errorf("%s is taken for other: %v, %v", twin, at, err)
		}
	}
}

func TestParamOfParamsThatAreNoObject(t *testing.T) {
	for _, params := range []string{`["name"]`, `"name"`, `7`, `null`} {
		m := mustScan(t, `{"jsonrpc":"2.0","id":1,"method":"a","params":`+params+`}`)
		if at, err := m.Param("name"); at.Present() || err != nil {
			t.Errorf("params %s: got %v, %v, want nothing", params, at, err)
		}
	}
	m := mustScan(t, `{"jsonrpc":"2.0","id":1,"method":"a"}`)
	if at, err := m.Param("name"); at.Present() || err != nil {
		t.Errorf("no params: got %v, %v, want nothing", at, err)
	}
}

func TestGetReadsInnerObjects(t *testing.T) {
	m := mustScan(t, `{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta" : { "x" : [ 1 , {"progressToken":0} ] , "progressToken" : "p\n" } , "n":"v"}}`)
	meta, err := m.Param("_meta")
	if err != nil {
		t.Fatal(err)
	}
	token, err := m.Get(meta, "progressToken")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(m.Text(token)); got != "p\n" {
		t.Errorf("got %q", got)
	}
	if got := m.Text(meta); got != nil {
		t.Errorf("the text of an object is %q, want nil", got)
	}
	if got := m.Text(Span{}); got != nil {
		t.Errorf("the text of nothing is %q, want nil", got)
	}
	if at, err := m.Get(token, "x"); at.Present() || err != nil {
		t.Errorf("a member of a string: %v, %v", at, err)
	}
}

func TestTextResolvesEscapes(t *testing.T) {
	for quoted, want := range map[string]string{
		`""`: "", `"plain"`: "plain", `"a\/b"`: "a/b", `"\u0041\n\""`: "A\n\"",
		`"\ud83d\ude00"`: "😀", `"\ud83d"`: "\uFFFD", `"\u0000"`: "\x00", `"ß\u00df"`: "ßß",
	} {
		m := mustScan(t, `{"jsonrpc":"2.0","method":`+quoted+`}`)
		if got := m.Text(m.Method); string(got) != want || got == nil {
			t.Errorf("%s: got %q, want %q", quoted, got, want)
		}
	}
}

func TestElementsAndMembersWalkOneLevel(t *testing.T) {
	m := mustScan(t, `{"jsonrpc":"2.0","id":1,"result":{"list":[ 1 ,"a,]",[2,[3]],{"b":4} ], "none":[ ],"k\u0065y":{},"k\u0065y":true}}`)
	var got []string
	for k, v := range Members(m.Frame, m.Result) {
		got = append(got, k+"="+string(m.Bytes(v)))
	}
	want := []string{`list=[ 1 ,"a,]",[2,[3]],{"b":4} ]`, `none=[ ]`, `key={}`, `key=true`}
	if !slices.Equal(got, want) {
		t.Errorf("members: got %q, want %q", got, want)
	}

	elements := func(key string) (got []string) {
		at, err := m.Get(m.Result, key)
		if err != nil {
			t.Fatal(err)
		}
		for v := range Elements(m.Frame, at) {
			got = append(got, string(m.Bytes(v)))
		}
		return got
	}
	if got, want := elements("list"), []string{`1`, `"a,]"`, `[2,[3]]`, `{"b":4}`}; !slices.Equal(got, want) {
		t.Errorf("elements: got %q, want %q", got, want)
	}
	if got := elements("none"); got != nil {
		t.Errorf("elements of an empty array: %q", got)
	}
	for range Elements(m.Frame, m.ID) {
		t.Error("a number has elements")
	}
	for range Members(m.Frame, m.ID) {
		t.Error("a number has members")
	}
	for range Elements(m.Frame, Span{}) {
		t.Error("nothing has elements")
	}
}

func TestWalksCanBeLeft(t *testing.T) {
	m := mustScan(t, `{"jsonrpc":"2.0","id":1,"result":{"a":[1,2,3],"b":2}}`)
	n := 0
	for _, v := range Members(m.Frame, m.Result) {
		for range Elements(m.Frame, v) {
			n++
			break
		}
		break
	}
	if n != 1 {
		t.Errorf("%d steps, want 1", n)
	}
}
