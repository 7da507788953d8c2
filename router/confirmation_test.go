package router

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
)

func TestWhatAPersonIsShownOfArguments(t *testing.T) {
	r := New(Options{Scrub: trace.NewScrubber([]string{"hunter22"}).Text}, nil, zap.NewNop())
	long := strings.Repeat("a", shownHead) + strings.Repeat("m", 1000) + strings.Repeat("z", shownTail)
	many := make([]string, shownArguments+2)
	for i := range many {
		many[i] = fmt.Sprintf(`"k%d":%d`, i, i)
	}
	for _, tt := range []struct{ name, params, want string }{
		{"none", `"name":"x"`, "It gets no arguments."},
		{"an empty object", `"arguments":{ }`, "It gets no arguments."},
		{"no object", `"arguments":[1, "a"]`, `Its arguments are no object: [1, "a"]`},
		{"numbers as they are", `"arguments":{"n":1.0,"m":1e400}`, "It gets these arguments:\n  \"n\": 1.0\n  \"m\": 1e400"},
		{"escapes resolved", `"arguments":{"p\u0061th":"\/\u0065tc","in":{"\u0061":["\u0062"]}}`, "It gets these arguments:\n  \"path\": \"/etc\"\n  \"in\": {\"a\": [\"b\"]}"},
		{"a name given twice", `"arguments":{"path":"/a","path":"/b"}`, "It gets these arguments:\n  \"path\": \"/a\"\n  \"path\": \"/b\""},
		{"lines that are made to look like others", `"arguments":{"a":"x\n  \"path\": \"/b\""}`, "It gets these arguments:\n  \"a\": \"x\\n  \\\"path\\\": \\\"/b\\\"\""},
		{"what cannot be seen", `"arguments":{"a\u200b":"\u202etxt\u0000\ufe0f"}`, "It gets these arguments:\n  \"a\\u{200b}\": \"\\u{202e}txt\\u0000\\u{fe0f}\""},
		{"secrets", `"arguments":{"a":"hunter\u00322!","password":"short"}`, "It gets these arguments:\n  \"a\": \"[redacted]!\"\n  \"password\": \"[redacted]\""},
		{"a long one", `"arguments":["` + long + `"]`, `Its arguments are no object: ["` + strings.Repeat("a", shownHead-2) + " … " + strings.Repeat("z", shownTail-2) + `"] (` + fmt.Sprint(len(long)+4) + " bytes)"},
		{"a giant", `"arguments":{"a":"` + strings.Repeat("b", legibleBytes) + `hunter22"}`, "It gets these arguments:\n  \"a\": \"" + strings.Repeat("b", shownHead-6) + fmt.Sprintf(" … (%d bytes)", legibleBytes+14)},
		{"many", `"arguments":{` + strings.Join(many, ",") + `}`, "… and 2 more arguments, which are not shown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := scanned(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+tt.params+`}}`)
			got := r.argumentsText(m)
			if got != tt.want && (tt.name != "many" || !strings.HasSuffix(got, tt.want)) {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// FuzzLegible checks that what a person is shown means what the server gets.
func FuzzLegible(f *testing.F) {
	for _, seed := range []string{`{}`, ` [ 1 , "a\u0062\/\\" , {"\"":null} ] `, `"\ud800"`, `{"a":{"b":[true,-1E+2]},"a":""}`, `"\u0022,\u003a"`, `"\`, `"`, `{"a":"b\`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := legible(raw)
		if !jsonrpc.Valid(raw) {
			return // cut off: it must not panic
		}
		var was, is any
		if json.Unmarshal(raw, &was) != nil {
			return // a number out of range
		}
		if err := json.Unmarshal([]byte(got), &is); err != nil || !reflect.DeepEqual(was, is) {
			t.Errorf("%q is shown as %q (%v)", raw, got, err)
		}
	})
}
