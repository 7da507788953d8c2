package mcpwire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"toolman/jsonrpc"
)

// What a server written in Go reads: encoding/json folds the case of keys and lets the last one
// win.
type foldedParams struct {
	Name json.RawMessage `json:"name"`
	URI  json.RawMessage `json:"uri"`
	Ref  struct {
		Type json.RawMessage `json:"type"`
		Name json.RawMessage `json:"name"`
		URI  json.RawMessage `json:"uri"`
	} `json:"ref"`
	Meta struct {
		Token json.RawMessage `json:"progressToken"`
	} `json:"_meta"`
}

// lastWins reads a member as most parsers do: the exact key, the last time.
func lastWins(object json.RawMessage, path ...string) json.RawMessage {
	for _, key := range path {
		var all map[string]json.RawMessage
		if json.Unmarshal(object, &all) != nil {
			return nil
		}
		object = all[key]
	}
	return object
}

var targeted = []Method{ToolsCall, PromptsGet, ResourcesRead, Subscribe, Unsubscribe, Complete}

// pathOf says where the specification puts the name of what a request is about.
func pathOf(method Method, kind Kind) []string {
	switch {
	case method == Complete && kind == Prompt:
		return []string{"ref", "name"}
	case method == Complete:
		return []string{"ref", "uri"}
	case kind.IsURI():
		return []string{"uri"}
	}
	return []string{"name"}
}

func (p *foldedParams) at(path []string) json.RawMessage {
	switch strings.Join(path, ".") {
	case "name":
		return p.Name
	case "uri":
		return p.URI
	case "ref.name":
		return p.Ref.Name
	case "ref.uri":
		return p.Ref.URI
	case "_meta.progressToken":
		return p.Meta.Token
	}
	return nil
}

// FuzzTarget checks that what toolman decides on is what the server will read, whichever way it
// reads, or an error.
func FuzzTarget(f *testing.F) {
	for _, seed := range []string{
		`{"name":"a","arguments":{"name":"b"},"_meta":{"progressToken":1}}`, `{"uri":"a:\u002f"}`, `{"na\u006de":"x","Name":"y"}`,
		`{"ref":{"type":"ref/prompt","name":"a","uri":"b"}}`, `{"ref":{"type":"ref\/resource","URI":"a","uri":"b"},"rEf":{}}`,
		`{"ref":{"type":"ref/prompt","name":"a"},"ref":{"type":"ref/resource","uri":"b"}}`, `{"ref":{"type":"x"},"ref":[]}`,
		`{"name":1,"name":"a\ud800"}`, `{"name\u0000":"a","name":null}`, `{"_meta":{"progressToken":"x","progressTo\u212aen":2}}`,
		`{"_meta":null,"name":""}`, `["name"]`, `null`, `{"":{"":""},"name":{}}`, "{\"uri\":\"\u017f\",\"re\u017f\":1}",
	} {
		for i := range targeted {
			f.Add([]byte(seed), uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, params []byte, which uint8) {
		method := targeted[int(which)%len(targeted)]
		var m jsonrpc.Message
		if jsonrpc.Scan([]byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":`+string(params)+`}`), &m) != nil {
			return
		}
		if at, kind, err := Target(&m, method); err == nil && at.Present() {
			checkRead(t, &m, at, pathOf(method, kind))
			if method == Complete {
				checkType(t, &m, kind)
			}
		}
		if at, err := ProgressToken(&m); err == nil && at.Present() {
			checkRead(t, &m, at, []string{"_meta", "progressToken"})
		}
	})
}

// checkRead compares the value toolman found with what the two parsers read.
func checkRead(t *testing.T, m *jsonrpc.Message, at jsonrpc.Span, path []string) {
	t.Helper()
	raw := m.Bytes(m.Params)
	var folded foldedParams
	json.Unmarshal(raw, &folded) // other members may have other types; these are raw
	got := string(m.Bytes(at))
	if other := string(folded.at(path)); other != got {
		t.Errorf("%v is %s; folding case it is %q, in %s", path, got, other, raw)
	}
	if other := string(lastWins(raw, path...)); other != got {
		t.Errorf("%v is %s; the last one is %q, in %s", path, got, other, raw)
	}
}

func checkType(t *testing.T, m *jsonrpc.Message, kind Kind) {
	t.Helper()
	want := map[Kind]string{Prompt: "ref/prompt", Template: "ref/resource"}[kind]
	raw := m.Bytes(m.Params)
	var folded foldedParams
	json.Unmarshal(raw, &folded)
	for _, quoted := range []json.RawMessage{folded.Ref.Type, lastWins(raw, "ref", "type")} {
		var text string
		if json.Unmarshal(quoted, &text) != nil || text != want {
			t.Errorf("%s, but the type is %s, in %s", kind, quoted, raw)
		}
	}
}

// FuzzParsePage checks that a page's items are what other parsers read, and that an item shown
// under another name differs in that name only.
func FuzzParsePage(f *testing.F) {
	for _, seed := range []string{
		`{"tools":[{"name":"a","description":"x"},{"name":"b","name":"c"},1,{}],"nextCursor":"n"}`,
		`{"resources":[{"uri":"a","name":"b","x":[{"uri":"c"}]}],"nextCursor":""}`,
		`{"resourceTemplates":[{"uriTemplate":"a://{b}"}],"nextCursor":null,"NextCursor":"x"}`,
		`{ "prompts" : [ { "n\u0061me" : "\ud83d\ude00" , "y":1e400 } ] , "nextCursor" : 5 }`, `{"tools":[{"name":"a","NAME":1}]}`, `[]`,
	} {
		for k := range Kinds {
			f.Add([]byte(seed), uint8(k))
		}
	}
	f.Fuzz(func(t *testing.T, result []byte, which uint8) {
		k := Kind(which % Kinds)
		result = bytes.TrimSpace(result)
		if !jsonrpc.Valid(result) {
			return
		}
		page, err := ParsePage(k, result)
		if err != nil {
			if len(page.Items) > 0 || page.More {
				t.Errorf("%v, but %+v", err, page)
			}
			return
		}
		var list []json.RawMessage
		if err := json.Unmarshal(lastWins(result, k.Member()), &list); err != nil || len(list) != len(page.Items)+len(page.Odd) &&
			len(list) != len(page.Items)+len(page.Odd)-1 { // one more is odd when the cursor is
			t.Fatalf("%d items and %d odd ones of %d in %s", len(page.Items), len(page.Odd), len(list), result)
		}
		if page.More {
			checkName(t, result, "nextCursor", page.Next)
		}
		for i := range page.Items {
			checkItem(t, &page.Items[i])
		}
	})
}

func checkName(t *testing.T, object []byte, key, want string) {
	t.Helper()
	var text string
	if err := json.Unmarshal(lastWins(object, key), &text); err != nil || text != want {
		t.Errorf("%s is %q, not %q, in %s", key, text, want, object)
	}
}

func checkItem(t *testing.T, it *Item) {
	t.Helper()
	key := facts[it.Kind].texts[0]
	checkName(t, it.Raw, key, it.Name)
	if it.Name == "" {
		t.Errorf("without a name: %s", it.Raw)
	}
	for other := range jsonrpc.Members(it.Raw, jsonrpc.Span{Hi: len(it.Raw)}) {
		if other != key && strings.EqualFold(other, key) {
			t.Errorf("accepted with %q: %s", other, it.Raw)
		}
	}
	shown := it.AppendWith(nil, it.Rename("ns_"+it.Name))
	checkName(t, shown, key, "ns_"+it.Name)
	if !bytes.HasPrefix(shown, it.Raw[:it.at.Lo]) || !bytes.HasSuffix(shown, it.Raw[it.at.Hi:]) {
		t.Errorf("%s became %s", it.Raw, shown)
	}
}
