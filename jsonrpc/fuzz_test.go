package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

var messageSeeds = []string{
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs_read","arguments":{"path":"a"},"_meta":{"progressToken":0}}}`,
	`{"method":"notifications/cancelled","params":{"requestId":"x\u0000","reason":"\ud83d\ude00"},"jsonrpc":"2.0"}`,
	`{"jsonrpc":"2.0","id":"\u0069d","result":{"content":[{"type":"text","text":"a\nb ß語😀"}],"isError":false}}`,
	"{\n\"jsonrpc\":\"2.0\",\r\"method\":\"a\"}\n",
	` { "jsonrpc" : "2.0" , "id" : -1.5e+3 , "error" : { "code" : -32601 , "message" : "no" , "data" : [ ] } } `,
	`{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":""}}`,
	`{"jsonrpc":"2.0","\u0069d":1,"ID":2,"method":"a","params":[1,{"a":[[]]},"12345678\\\"",true]}`,
	`{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":1,"n\u0061me":2,"":3}}`,
	`{"jsonrpc":"2.0","method":"","params":{"":0}}`,
	`[{"jsonrpc":"2.0","id":1,"method":"a"},{}]`,
	`[[[[[[[[{"a":{"b":[0,-0.1,1E5,nulls]}}]]]]]]]]`,
	`{"jsonrpc":"2.0","method":"a` + "\xff\xc0\xaf" + `"}`,
	`{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat(`a long \"text\" \\ with ß and 語\n\u00df`, 12) + `"}`,
	`{"a":01}`, `"\ud8"`, `{"a":"` + "\x1f" + `"}`, ``, ` `, `{`, `nul`, `-`, "\uFEFF{}",
}

// An independent reader of the envelope: encoding/json folds the case of keys and lets the last one
// win.
type envelope struct {
	JSONRPC json.RawMessage `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  json.RawMessage `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

func FuzzScan(f *testing.F) {
	for _, seed := range messageSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		valid := json.Valid(frame) && utf8.Valid(frame)
		if got := Valid(frame); got != valid {
			t.Fatalf("Valid is %v", got)
		}
		var m Message
		err := Scan(frame, &m)
		if syntax, ok := errors.AsType[*SyntaxError](err); ok == valid {
			t.Fatalf("Scan says %v, json.Valid and utf8.Valid %v", err, valid)
		} else if ok && (syntax.Offset < 0 || syntax.Offset > len(frame)) {
			t.Fatalf("offset %d of %d", syntax.Offset, len(frame))
		}
		if err == nil {
			checkParts(t, &m)
		}
	})
}

// checkParts compares what Scan found with what other parsers read.
func checkParts(t *testing.T, m *Message) {
	if breaks := bytes.ContainsAny(m.Frame, "\r\n"); m.oneLine == breaks {
		t.Fatalf("oneLine is %v", m.oneLine)
	}
	var folded envelope
	if err := json.Unmarshal(m.Frame, &folded); err != nil {
		t.Fatal(err)
	}
	var exact map[string]json.RawMessage
	if err := json.Unmarshal(m.Frame, &exact); err != nil {
		t.Fatal(err)
	}
	if string(folded.JSONRPC) != `"2.0"` {
		t.Fatalf("accepted with version %s", folded.JSONRPC)
	}
	for _, part := range []struct {
		key    string
		span   Span
		folded []byte
	}{{"id", m.ID, folded.ID}, {"method", m.Method, folded.Method}, {"params", m.Params, folded.Params},
		{"result", m.Result, folded.Result}, {"error", m.Err, folded.Error}} {
		got := m.Bytes(part.span)
		if m.BothResultAndError && !part.span.Present() && string(part.folded) == "null" {
			continue
		}
		if !bytes.Equal(got, part.folded) || !bytes.Equal(got, exact[part.key]) {
			t.Fatalf("%s: Scan found %q, others %q and %q", part.key, got, part.folded, exact[part.key])
		}
	}
	kind := map[[2]bool]Kind{{true, true}: Request, {true, false}: Notification, {false, true}: Response, {false, false}: Response}
	if want := kind[[2]bool{folded.Method != nil, folded.ID != nil}]; m.Kind != want {
		t.Fatalf("got a %v, want a %v", m.Kind, want)
	}
	for key, value := range Members(m.Frame, m.Params) {
		if at, err := m.Param(key); err == nil && at != value {
			t.Fatalf("Param(%q) is %q, Members says %q", key, m.Bytes(at), m.Bytes(value))
		}
	}
}

func FuzzSplice(f *testing.F) {
	for i, seed := range messageSeeds {
		f.Add([]byte(seed), "new\n", byte(i))
	}
	f.Fuzz(func(t *testing.T, frame []byte, text string, which byte) {
		var m Message
		if Scan(frame, &m) != nil {
			return
		}
		before := bytes.Clone(frame)
		spans := []Span{m.ID, m.Method, m.Params, m.Result}
		var same []Edit
		for i := range spans {
			if s := spans[(i+int(which))%len(spans)]; s.Present() {
				same = append(same, Edit{s, bytes.Clone(m.Bytes(s))})
			}
		}
		if got := AppendSplice(nil, frame, same...); !bytes.Equal(got, before) {
			t.Fatalf("edits that change nothing gave %q from %q", got, before)
		}

		at := spans[int(which)%len(spans)]
		if !at.Present() {
			return
		}
		with := AppendQuoted(nil, text)
		got := AppendSplice(nil, frame, Edit{at, with})
		want := string(before[:at.Lo]) + string(with) + string(before[at.Hi:])
		if string(got) != want || !bytes.Equal(frame, before) {
			t.Fatalf("got %q, want %q", got, want)
		}
		var after Message
		if err := Scan(got, &after); err != nil {
			t.Fatalf("%q is no message any more: %v", got, err)
		}
		for i, s := range []Span{after.ID, after.Method, after.Params, after.Result} {
			if spans[i] != at && !bytes.Equal(after.Bytes(s), m.Bytes(spans[i])) {
				t.Fatalf("another part changed from %q to %q", m.Bytes(spans[i]), after.Bytes(s))
			}
		}
	})
}

// params as an SDK in Go declares them.
type someParams struct {
	Name          json.RawMessage `json:"name"`
	Task          json.RawMessage `json:"task"`
	ProgressToken json.RawMessage `json:"progressToken"`
}

// What Param decides on is what every other reader of the params sees, whether it folds case, takes
// the first or the last of two members, drops NULs or ends a key at one.
func FuzzMatchKey(f *testing.F) {
	for _, seed := range []string{
		`"name":1`, `"Name":1,"name":2`, `"name":1,"name":2`, `"n\u0061me":1`, `"n\u0061me":1,"\u006e\u0061me":2`,
		`"task":1,"tas\u212a":2`, "\"tas\u212a\":1", `"progreſſToken":1`, `"progressToken":0,"progreS\u017fToken":1`,
		`"name\u0000":1`, `"\u0000name":1,"name":2`, `"name\u0000x":1`, `"na\u0000me":1`, `"":1,"\\name":2,"name":3`,
		`"a":{"name":1},"task":[{"task":2}]`,
		`"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"m":1,"n":1,"o":1,"p":1,"name":2,"NAME":3`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, members string) {
		var m Message
		if Scan([]byte(`{"jsonrpc":"2.0","id":1,"method":"a","params":{`+members+`}}`), &m) != nil || !m.IsObject(m.Params) {
			return
		}
		var folded someParams
		if err := json.Unmarshal(m.Bytes(m.Params), &folded); err != nil {
			t.Fatal(err)
		}
		for key, byFolding := range map[string]json.RawMessage{"name": folded.Name, "task": folded.Task, "progressToken": folded.ProgressToken} {
			at, err := m.Param(key)
			again, err2 := m.Get(m.Params, key)
			if at != again || (err == nil) != (err2 == nil) {
				t.Fatalf("%s: Param says %v, %v and Get %v, %v", key, at, err, again, err2)
			}
			if err != nil {
				continue
			}
			got := string(m.Bytes(at))
			if got != string(byFolding) {
				t.Fatalf("%s: got %q, encoding/json %q", key, got, byFolding)
			}
			for name, value := range Members(m.Frame, m.Params) {
				if asOthersRead(name) == key && string(m.Bytes(value)) != got {
					t.Fatalf("%s: got %q, but there is also %q: %q", key, got, name, m.Bytes(value))
				}
			}
		}
	})
}

// asOthersRead is a key as a reader in C may see it.
func asOthersRead(key string) string {
	text := bytes.TrimLeft([]byte(key), "\x00")
	text, _, _ = bytes.Cut(text, []byte{0})
	return string(text)
}
