package jsonrpc

import (
	"encoding/json"
	"reflect"
	"strconv"
	"testing"
)

func TestAppendQuotedEscapesOnlyWhatItMust(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     `""`,
		"plain":                                `"plain"`,
		`say "hi" \o/`:                         `"say \"hi\" \\o/"`,
		"a\nb\rc\td":                           `"a\nb\rc\td"`,
		"\x00\x01\x1f\x7f":                     `"\u0000\u0001\u001f` + "\x7f\"",
		"<b>&\u2028":                           "\"<b>&\u2028\"",
		"ß語😀":                                  `"ß語😀"`,
		"cut \xe8\xaa":                         "\"cut \uFFFD\uFFFD\"",
		"\xff":                                 "\"\uFFFD\"",
		"\xed\xa0\x80":                         "\"\uFFFD\uFFFD\uFFFD\"",
		"long and clean and long and clean ÄÖ": `"long and clean and long and clean ÄÖ"`,
	} {
		if got := string(AppendQuoted(nil, text)); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
		if got := string(AppendQuoted([]byte("x"), []byte(text))); got != "x"+want {
			t.Errorf("%q as bytes: got %s, want x%s", text, got, want)
		}
	}
}

// A text with every rune there is, in strange company, comes back whole.
func TestUnquoteGivesBackWhatAppendQuotedTook(t *testing.T) {
	var all []rune
	for r := rune(0); r <= 0x10FFFF; r += 1 + r/300 {
		if 0xD800 <= r && r < 0xE000 {
			continue
		}
		all = append(all, r, '"', '\\', '\n')
	}
	text := string(all)
	quoted := AppendQuoted(nil, text)
	if !Valid(quoted) || !json.Valid(quoted) {
		t.Fatal("what was quoted is not valid")
	}
	if got := string(Unquote(quoted)); got != text {
		t.Error("the text came back changed")
	}
	var std string
	if err := json.Unmarshal(quoted, &std); err != nil || std != text {
		t.Errorf("encoding/json reads another text: %v", err)
	}
}

func TestUnquoteSharesWhatHasNoEscapes(t *testing.T) {
	quoted := []byte(`"abc"`)
	inner := Unquote(quoted)
	quoted[1] = 'x'
	if string(inner) != "xbc" {
		t.Errorf("got %q: a copy was made", inner)
	}
}

func FuzzUnquote(f *testing.F) {
	for _, seed := range []string{"", "a", "\x00\"\\", "ß\xff語", "\ufffd", "a\r\n\t/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		quoted := AppendQuoted(nil, text)
		std, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var want string
		if err := json.Unmarshal(std, &want); err != nil {
			t.Fatal(err)
		}
		if !Valid(quoted) {
			t.Fatalf("%q is quoted as %q, which is not valid", text, quoted)
		}
		if got := string(Unquote(quoted)); got != want {
			t.Fatalf("%q came back as %q, want %q", text, got, want)
		}
	})
}

func TestRepliesAreMessagesWithTheirBytesUntouched(t *testing.T) {
	tests := []struct {
		name string
		got  []byte
		want string
	}{
		{"a result", AppendResult(nil, []byte(`"a\u0062"`), []byte(`{"x": 1E2,"<":"é"}`)), `{"jsonrpc":"2.0","id":"a\u0062","result":{"x": 1E2,"<":"é"}}`},
		{"an error object", AppendErrorResponse(nil, []byte(`-1.5`), []byte(`{"code": 1,"message":"&"}`)), `{"jsonrpc":"2.0","id":-1.5,"error":{"code": 1,"message":"&"}}`},
		{"an error", AppendError(nil, []byte(`7`), CodeInvalidParams, `no "x"`, nil), `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no \"x\""}}`},
		{"an error with data", AppendError(nil, []byte(`7`), CodeInternalError, "m", []byte(`{"a":[1]}`)), `{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"m","data":{"a":[1]}}}`},
		{"an error for nobody", AppendError(nil, nil, CodeParseError, "m", nil), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`},
		{"an error with a broken message", AppendError(nil, nil, CodeParseError, "a\xff\n", nil), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"a` + "\uFFFD" + `\n"}}`},
		{"a notification", AppendNotification(nil, "a/b", []byte(`{"c":1}`)), `{"jsonrpc":"2.0","method":"a/b","params":{"c":1}}`},
		{"a notification without params", AppendNotification(nil, `a"b`, nil), `{"jsonrpc":"2.0","method":"a\"b"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if string(tt.got) != tt.want {
				t.Errorf("got %s, want %s", tt.got, tt.want)
			}
			mustScan(t, string(tt.got))
		})
	}
	if got := string(AppendResult([]byte("before"), []byte("1"), []byte("2"))); got != `before{"jsonrpc":"2.0","id":1,"result":2}` {
		t.Errorf("appended to something: %s", got)
	}
}

func TestKindsAreSpelledAsInTheTrace(t *testing.T) {
	for kind, want := range map[Kind]string{Invalid: "invalid", Request: "request", Notification: "notification", Response: "response"} {
		if got := kind.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestABuiltRequestIsAsScanFindsIt(t *testing.T) {
	for n := range maxMembers + 2 {
		var params []Param
		for i := range n {
			params = append(params, Param{"k" + strconv.Itoa(i), []byte(`{"a":[1,"b"]}`)})
		}
		var built, scanned Message
		built.Build([]byte(`"1-x"`), "tools/call", params...)
		if err := Scan(built.Frame, &scanned); err != nil {
			t.Fatalf("%s: %v", built.Frame, err)
		}
		if n > maxMembers { // what is remembered of them does not count
			built.params, scanned.params = [maxMembers]Member{}, [maxMembers]Member{}
		}
		scanned.oneLine = false // Build does not look for line breaks
		if scanned.Template = built.Template; !reflect.DeepEqual(built, scanned) {
			t.Errorf("%s\nis built  %+v\nscanned as %+v", built.Frame, built, scanned)
		}
	}
}
