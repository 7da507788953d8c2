package jsonrpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// mustScan fails the test when frame is no message.
func mustScan(t testing.TB, frame string) *Message {
	t.Helper()
	var m Message
	if err := Scan([]byte(frame), &m); err != nil {
		t.Fatalf("Scan(%.200s): %v", frame, err)
	}
	return &m
}

func TestScanFindsThePartsOfAMessage(t *testing.T) {
	tests := []struct {
		name, frame                     string
		kind                            Kind
		id, method, params, result, err string
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, Request, `1`, `"ping"`, ``, ``, ``},
		{"request with params", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"b":[1]}}`, Request, `1`, `"a"`, `{"b":[1]}`, ``, ``},
		{"params that are no object", `{"jsonrpc":"2.0","id":1,"method":"a","params":[1, 2]}`, Request, `1`, `"a"`, `[1, 2]`, ``, ``},
		{"notification", `{"jsonrpc":"2.0","method":"a/b","params":{}}`, Notification, ``, `"a/b"`, `{}`, ``, ``},
		{"response", `{"jsonrpc":"2.0","id":1,"result":{"x":null}}`, Response, `1`, ``, ``, `{"x":null}`, ``},
		{"response with a null result", `{"jsonrpc":"2.0","id":1,"result":null}`, Response, `1`, ``, ``, `null`, ``},
		{"error response", `{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"m"}}`, Response, `"a"`, ``, ``, ``, `{"code":1,"message":"m"}`},
		{"error response without a known id", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`, Response, `null`, ``, ``, ``, `{"code":1,"message":"m"}`},
		{"response without an id", `{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}`, Response, ``, ``, ``, ``, `{"code":1,"message":"m"}`},
		{"members in another order", `{"params":{"a":1},"method":"m","id":9,"jsonrpc":"2.0"}`, Request, `9`, `"m"`, `{"a":1}`, ``, ``},
		{"unknown members", `{"jsonrpc":"2.0","x":{"id":2},"id":1,"method":"a","_":[]}`, Request, `1`, `"a"`, ``, ``, ``},
		{"white space everywhere", " {\t\"jsonrpc\" :\r\"2.0\" , \"id\" : 1 , \"method\" : \"a\" , \"params\" : { } } \n", Request, `1`, `"a"`, `{ }`, ``, ``},
		{"escaped key", `{"jsonrpc":"2.0","\u0069d":7,"method":"a"}`, Request, `7`, `"a"`, ``, ``, ``},
		{"escaped params key", `{"jsonrpc":"2.0","id":7,"method":"a","para\u006ds":{"b":1}}`, Request, `7`, `"a"`, `{"b":1}`, ``, ``},
		{"escaped method", `{"jsonrpc":"2.0","id":7,"method":"a\/b"}`, Request, `7`, `"a\/b"`, ``, ``, ``},
		{"lone surrogates and NUL", `{"jsonrpc":"2.0","id":"\ud800","method":"\udc00\u0000","params":{"\ud83d":"\ude00\ud83d"}}`, Request, `"\ud800"`, `"\udc00\u0000"`, `{"\ud83d":"\ude00\ud83d"}`, ``, ``},
		{"every escape", `{"jsonrpc":"2.0","method":"\"\\\/\b\f\n\r\t\uABcd"}`, Notification, ``, `"\"\\\/\b\f\n\r\t\uABcd"`, ``, ``, ``},
		{"characters of every length", "{\"jsonrpc\":\"2.0\",\"method\":\"a\x7fß語😀\u2028\"}", Notification, ``, "\"a\x7fß語😀\u2028\"", ``, ``, ``},
		{"numbers", `{"jsonrpc":"2.0","id":1,"result":[0,-0,10,1.0,-1.5e+30,1E-2,1e400,123456789012345678901234567890]}`, Response, `1`, ``, ``, `[0,-0,10,1.0,-1.5e+30,1E-2,1e400,123456789012345678901234567890]`, ``},
		{"words", `{"jsonrpc":"2.0","id":1,"result":[true,false,null]}`, Response, `1`, ``, ``, `[true,false,null]`, ``},
		{"empty containers", `{"jsonrpc":"2.0","id":1,"result":[[],{},[ ],{ },[[{}]]]}`, Response, `1`, ``, ``, `[[],{},[ ],{ },[[{}]]]`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := mustScan(t, tt.frame)
			if m.Kind != tt.kind {
				t.Errorf("got a %v, want a %v", m.Kind, tt.kind)
			}
			for _, part := range []struct {
				name string
				span Span
				want string
			}{{"id", m.ID, tt.id}, {"method", m.Method, tt.method}, {"params", m.Params, tt.params},
				{"result", m.Result, tt.result}, {"error", m.Err, tt.err}} {
				if got := string(m.Bytes(part.span)); got != part.want || part.span.Present() != (part.want != "") {
					t.Errorf("%s: got %q, want %q", part.name, got, part.want)
				}
			}
			if m.BothResultAndError {
				t.Error("BothResultAndError is set")
			}
		})
	}
}

func TestScanTakesEveryIDOfARequest(t *testing.T) {
	for _, id := range []string{`0`, `-1`, `-0`, `1`, `1.5`, `1e3`, `9007199254740993`, `9223372036854775808`,
		`123456789012345678901234567890`, `""`, `"1"`, `"a b"`, `"\u0000"`, `"id"`, `"` + strings.Repeat("long", 2500) + `"`} {
		m := mustScan(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"a"}`)
		if got := string(m.Bytes(m.ID)); got != id || m.Kind != Request {
			t.Errorf("got a %v with id %.40s, want a request with %.40s", m.Kind, got, id)
		}
	}
}

// in puts a value where Scan finds it at offset at.
func in(value string) string { return `{"jsonrpc":"2.0","method":"a","x":` + value + `}` }

var at = len(in("")) - 1

// The offset is where the first byte stands that could not be.
var notJSON = []struct {
	name, frame string
	offset      int
}{
	{"nothing", ``, 0},
	{"blanks", "  \t", 3},
	{"a banner", `Server running on stdio`, 0},
	{"an opened object", `{`, 1},
	{"a key only", `{"a"`, 4},
	{"a colon only", `{"a":`, 5},
	{"a value only", `{"a":1`, 6},
	{"no value", in(``), at},
	{"no colon", `{"a" 1}`, 5},
	{"an unquoted key", `{a:1}`, 1},
	{"a number as key", `{1:1}`, 1},
	{"a comma first", `{,"a":1}`, 1},
	{"a comma last", `{"a":1,}`, 7},
	{"two commas", `{"a":1,,"b":1}`, 7},
	{"no comma", `{"a":1 "b":1}`, 7},
	{"single quotes", `{'a':1}`, 1},
	{"text after the object", `{"jsonrpc":"2.0","method":"a"} x`, 31},
	{"two objects", `{"jsonrpc":"2.0","method":"a"}{}`, 30},
	{"a NUL after the object", "{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\x00", 30},
	{"a closing bracket for a brace", in(`[}`), at + 1},
	{"a closing brace for a bracket", in(`{"a":1]`), at + 6},
	{"a comma last in an array", in(`[1,]`), at + 3},
	{"a comma first in an array", in(`[,1]`), at + 1},
	{"no comma in an array", in(`[1 2]`), at + 3},
	{"a comma last in an inner object", in(`{"a":1,}`), at + 7},
	{"an array without an end", `{"jsonrpc":"2.0","x":[1`, 23},
	{"a string without an end", `{"jsonrpc":"2.0","x":"a`, 23},
	{"a string ended by an escaped quote", `{"jsonrpc":"2.0","x":"a\"`, 25},
	{"a newline in a string", in("\"a\nb\""), at + 2},
	{"a NUL in a string", in("\"a\x00b\""), at + 2},
	{"a control character after eight bytes", in("\"12345678\x1f\""), at + 9},
	{"an unknown escape", in(`"\x41"`), at + 2},
	{"a bad hexadecimal digit", in(`"\u00g0"`), at + 5},
	{"an escape cut short", `{"jsonrpc":"2.0","x":"\u00`, 26},
	{"a backslash at the end", `{"jsonrpc":"2.0","x":"\`, 23},
	{"a leading zero", in(`01`), at + 1},
	{"a plus sign", in(`+1`), at},
	{"a minus only", in(`-`), at + 1},
	{"a point first", in(`.5`), at},
	{"a point last", in(`1.`), at + 2},
	{"an empty exponent", in(`1e`), at + 2},
	{"a signed empty exponent", in(`1e+`), at + 3},
	{"hexadecimal", in(`0x10`), at + 1},
	{"NaN", in(`NaN`), at},
	{"Infinity", in(`-Infinity`), at + 1},
	{"a cut word", in(`tru`), at},
	{"a capital word", in(`True`), at},
	{"a longer word", in(`nulls`), at + 4},
	{"a comment", in(`/* */ 1`), at},
	{"a non-breaking space", in("\u00a01"), at},
	{"a byte order mark inside", in("\uFEFF1"), at},
	{"a stray byte outside strings", in("1\xff"), at + 1},
	{"bad JSON in a batch", `[{"jsonrpc":"2.0"]`, 17},
	{"bad JSON after a form error", `{"id":1,"ID":2,"x":01}`, 20},
}

func TestScanRefusesWhatIsNotJSON(t *testing.T) {
	for _, tt := range notJSON {
		t.Run(tt.name, func(t *testing.T) {
			if json.Valid([]byte(tt.frame)) {
				t.Fatal("the case itself is valid JSON")
			}
			var m Message
			err := Scan([]byte(tt.frame), &m)
			syntax, ok := errors.AsType[*SyntaxError](err)
			if !ok {
				t.Fatalf("got %v, want a SyntaxError", err)
			}
			if syntax.Offset != tt.offset {
				t.Errorf("got %v, want it at offset %d", err, tt.offset)
			}
			if Valid([]byte(tt.frame)) {
				t.Error("Valid accepts it")
			}
		})
	}
}

func TestScanRefusesEveryStartOfAMessage(t *testing.T) {
	for _, whole := range messageSeeds[:6] {
		for n := range len(strings.TrimSpace(whole)) {
			var m Message
			err := Scan([]byte(whole[:n]), &m)
			if syntax, ok := errors.AsType[*SyntaxError](err); !ok || syntax.Offset > n {
				t.Errorf("%q: got %v, want a SyntaxError", whole[:n], err)
			}
		}
	}
}

func TestScanRefusesInvalidUTF8(t *testing.T) {
	const valid = "ß語😀"
	bad := map[string]string{
		"a lone continuation":   "\x80",
		"an overlong slash":     "\xc0\xaf",
		"a surrogate in UTF-8":  "\xed\xa0\x80",
		"beyond Unicode":        "\xf4\x90\x80\x80",
		"a cut character":       "\xe8\xaa",
		"a byte that never is":  "\xff",
		"a cut one and a quote": "\xf0\x9f",
	}
	for name, b := range bad {
		for _, frame := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"` + b + `"}`,
			`{"jsonrpc":"2.0","id":"` + valid + b + `","method":"a"}`,
			`{"jsonrpc":"2.0","id":1,"method":"a","` + b + `":1}`,
			`{"jsonrpc":"2.0","id":1,"method":"a","params":{"a":{"` + valid + b + valid + `":1}}}`,
			`{"jsonrpc":"2.0","id":1,"result":["` + strings.Repeat(valid, 20) + `","0123456789` + b + `"]}`,
			`{"jsonrpc":"2.0","id":1,"result":"\n` + b + `\n"}`,
			`["` + b + `"]`,
		} {
			var m Message
			err := Scan([]byte(frame), &m)
			if _, ok := errors.AsType[*SyntaxError](err); !ok {
				t.Errorf("%s in %q: got %v, want a SyntaxError", name, frame, err)
			}
		}
	}
}

func TestScanRefusesWhatIsNoMessage(t *testing.T) {
	tests := []struct{ name, frame, id string }{
		{"a string", `"ping"`, ``},
		{"a number", `17`, ``},
		{"null", `null`, ``},
		{"an empty array", `[]`, ``},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"a"}]`, ``},
		{"an empty object", `{}`, ``},
		{"no jsonrpc", `{"id":1,"method":"a"}`, `1`},
		{"another version", `{"jsonrpc":"1.0","id":1,"method":"a"}`, `1`},
		{"a number as version", `{"jsonrpc":2.0,"id":1,"method":"a"}`, `1`},
		{"no method and no result", `{"jsonrpc":"2.0","id":1}`, `1`},
		{"a method that is no string", `{"jsonrpc":"2.0","id":1,"method":7}`, `1`},
		{"a null method", `{"jsonrpc":"2.0","id":1,"method":null,"result":1}`, `1`},
		{"a method and a result", `{"jsonrpc":"2.0","id":1,"method":"a","result":1}`, `1`},
		{"a method and an error", `{"jsonrpc":"2.0","id":1,"method":"a","error":{}}`, `1`},
		{"a result and an error", `{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}`, `1`},
		{"the id twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}`, `1`},
		{"the id twice, once escaped", `{"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"a"}`, `1`},
		{"the method twice", `{"jsonrpc":"2.0","id":1,"method":"a","method":"a"}`, `1`},
		{"params twice", `{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}`, `1`},
		{"params twice, once escaped", `{"jsonrpc":"2.0","id":1,"method":"a","params":{},"p\u0061rams":{}}`, `1`},
		{"the result twice", `{"jsonrpc":"2.0","id":1,"result":null,"result":1}`, `1`},
		{"the version twice", `{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"a"}`, `1`},
		{"ID", `{"jsonrpc":"2.0","id":1,"ID":2,"method":"a"}`, `1`},
		{"only ID", `{"jsonrpc":"2.0","ID":2,"method":"a"}`, ``},
		{"Method", `{"jsonrpc":"2.0","id":1,"method":"a","Method":"b"}`, `1`},
		{"paramſ with a long s", `{"jsonrpc":"2.0","id":1,"method":"a","paramſ":{}}`, `1`},
		{"paramſ, escaped", `{"jsonrpc":"2.0","id":1,"method":"a","param\u017f":{}}`, `1`},
		{"a key with a NUL behind", `{"jsonrpc":"2.0","id":1,"method":"a","params\u0000":{}}`, `1`},
		{"a key with a NUL before", `{"jsonrpc":"2.0","id":1,"method":"a","\u0000id":2}`, `1`},
		{"a key that ends at a NUL for C", `{"jsonrpc":"2.0","id":1,"method":"a","method\u0000x":"b"}`, `1`},
		{"a response with a look-alike", `{"jsonrpc":"2.0","id":1,"result":{},"Result":{}}`, `1`},
		{"a null id in a request", `{"jsonrpc":"2.0","id":null,"method":"a"}`, `null`},
		{"an object as id", `{"jsonrpc":"2.0","id":{"a":1},"method":"a"}`, `{"a":1}`},
		{"an array as id", `{"jsonrpc":"2.0","id":[1],"method":"a"}`, `[1]`},
		{"true as id", `{"jsonrpc":"2.0","id":true,"method":"a"}`, `true`},
		{"an error that is null", `{"jsonrpc":"2.0","id":1,"error":null}`, `1`},
		{"an error that is text", `{"jsonrpc":"2.0","id":1,"error":"no"}`, `1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var m Message
			err := Scan([]byte(tt.frame), &m)
			if _, ok := errors.AsType[*FormError](err); !ok {
				t.Fatalf("got %v, want a FormError", err)
			}
			if got := string(m.Bytes(m.ID)); got != tt.id {
				t.Errorf("id: got %q, want %q", got, tt.id)
			}
			if m.Kind != Invalid {
				t.Errorf("got kind %v, want invalid", m.Kind)
			}
		})
	}
}

func TestScanIsLooseAboutANullBesideResultOrError(t *testing.T) {
	tests := []struct{ name, frame, result, err string }{
		{"error null", `{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":null}`, `{"a":1}`, ``},
		{"result null", `{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":""}}`, ``, `{"code":1,"message":""}`},
		{"both null", `{"jsonrpc":"2.0","id":1,"error":null,"result":null}`, `null`, ``},
	}
	for _, tt := range tests {
		m := mustScan(t, tt.frame)
		if !m.BothResultAndError || m.Kind != Response {
			t.Errorf("%s: got a %v, both %v, want a response with both result and error", tt.name, m.Kind, m.BothResultAndError)
		}
		if got := string(m.Bytes(m.Result)); got != tt.result {
			t.Errorf("%s: result %q, want %q", tt.name, got, tt.result)
		}
		if got := string(m.Bytes(m.Err)); got != tt.err {
			t.Errorf("%s: error %q, want %q", tt.name, got, tt.err)
		}
	}
}

// nest returns a value of depth levels, turn and turn about of arrays and objects when mixed.
func nest(depth int, mixed bool) string {
	var b strings.Builder
	for i := range depth {
		if mixed && i%3 == 0 {
			b.WriteString(`{"k":`)
		} else {
			b.WriteByte('[')
		}
	}
	for i := depth - 1; i >= 0; i-- {
		if i == depth-1 && !(mixed && i%3 == 0) {
			b.WriteByte(']')
		} else if i == depth-1 {
			b.WriteString(`0}`)
		} else if mixed && i%3 == 0 {
			b.WriteByte('}')
		} else {
			b.WriteByte(']')
		}
	}
	return b.String()
}

func TestScanStopsAtTheDepthWhereOthersStop(t *testing.T) {
	for _, tt := range []struct {
		name, frame string
		levels      int // outside the nested value
	}{
		{"in params", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"deep":%s}}`, 2},
		{"behind params", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"b":[]},"x":%s}`, 1},
		{"as params", `{"jsonrpc":"2.0","id":1,"method":"a","params":%s}`, 1},
		{"as result", `{"jsonrpc":"2.0","id":1,"result":%s}`, 1},
		{"in an unknown member", `{"jsonrpc":"2.0","id":1,"method":"a","x":%s}`, 1},
	} {
		for _, mixed := range []bool{false, true} {
			for _, depth := range []int{63, 64, 65, 127, 128, 129, 9_999, 10_000, 10_001, 10_063, 10_064, 200_000} {
				var m Message
				frame := fmt.Appendf(nil, tt.frame, nest(depth-tt.levels, mixed))
				err := Scan(frame, &m)
				if _, ok := errors.AsType[*SyntaxError](err); ok != (depth > 10_000) {
					t.Errorf("%s, depth %d: %v", tt.name, depth, err)
				}
				if (err == nil) != json.Valid(frame) {
					t.Errorf("%s, depth %d: encoding/json disagrees with %v", tt.name, depth, err)
				}
			}
		}
	}
}

func TestScanCountsTheLevelsOfBareValuesToo(t *testing.T) {
	for depth, want := range map[int]string{10_000: "batches", 10_001: "nested too deep"} {
		var m Message
		if err := Scan([]byte(nest(depth, false)), &m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("depth %d: got %v, want a word about %s", depth, err, want)
		}
		if Valid([]byte(nest(depth, true))) != (depth <= 10_000) {
			t.Errorf("depth %d: Valid disagrees", depth)
		}
	}
}

// A wrong bracket is found at every depth, also where the scanner's memory of open brackets changes
// from one word to the next.
func TestScanMatchesBracketsAtEveryDepth(t *testing.T) {
	for depth := 1; depth < 260; depth++ {
		good := nest(depth, true)
		if !Valid([]byte(good)) {
			t.Fatalf("depth %d refused", depth)
		}
		for i := len(good) - depth; i < len(good); i++ {
			bad := []byte(good)
			bad[i] ^= ']' ^ '}'
			if Valid(bad) {
				t.Fatalf("depth %d: accepted with a wrong bracket at %d", depth, i)
			}
		}
	}
}

func TestScanForgetsTheFrameBefore(t *testing.T) {
	var m Message
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":"x","b":1}}`,
		`{"jsonrpc":"2.0","id":1,"result":1,"error":null}`,
		`{"jsonrpc":"2.0","id":1,"error":{}}`,
		`[]`,
	} {
		Scan([]byte(frame), &m)
		Scan([]byte(`{"jsonrpc":"2.0","method":"n"}`), &m)
		if m.ID.Present() || m.Params.Present() || m.Result.Present() || m.Err.Present() || m.BothResultAndError || m.Kind != Notification {
			t.Errorf("after %s: %+v", frame, m)
		}
		if got, err := m.Param("name"); got.Present() || err != nil {
			t.Errorf("after %s: there is still a param at %v, %v", frame, got, err)
		}
	}
}

func TestErrorsSayWhatAndWhere(t *testing.T) {
	var m Message
	if got, want := Scan([]byte(`{"a":01}`), &m).Error(), "not valid JSON at byte 7: expected ',' or '}'"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Scan([]byte(`{"jsonrpc":"2.0","id":1,"method":"a","Params":1}`), &m).Error(); !strings.Contains(got, "params") {
		t.Errorf("got %q, which does not name params", got)
	}
	long := &TooLongError{Size: 40, Limit: 32}
	if got, want := long.Error(), "message of 40 bytes is over the limit of 32"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A frame is part of a buffer, and what stands behind it there must not count.
func TestScanLooksAtNothingBehindTheFrame(t *testing.T) {
	const whole = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"text":"`
	for n := range 200 {
		for _, behind := range []string{`"}}}`, "\"}}}\xff", `"`, `\`, "\x00", "\xff"} {
			buffer := []byte(whole + strings.Repeat("x", n) + strings.Repeat(behind, 64))
			cut := len(whole) + n
			var m Message
			err, ok := errors.AsType[*SyntaxError](Scan(buffer[:cut], &m))
			if !ok || err.Offset != cut {
				t.Fatalf("%d bytes, then %q: got %v, want it at offset %d", cut, behind, err, cut)
			}
			good := append(buffer[:cut:len(buffer)], `"}}}`...)
			if err := Scan(good, &m); err != nil || string(m.Bytes(m.Params)) != string(good[cutParams:len(good)-1]) {
				t.Fatalf("%d bytes, then %q: %v", len(good), behind, err)
			}
		}
	}
}

const cutParams = len(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`)
