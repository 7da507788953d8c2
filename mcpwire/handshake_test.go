package mcpwire

import (
	"encoding/json"
	"testing"
)

func TestParseHello(t *testing.T) {
	m := request(t, Initialize, `{"protocolVersion":"2025-06-18","capabilities":{"roots":{"listChanged":true}, "x":1e2},`+
		`"clientInfo":{"name":"a\u0062","version":"1.2","title":"T"}}`)
	h, err := ParseHello(m)
	if err != nil {
		t.Fatal(err)
	}
	clear(m.Frame) // a Hello outlives its message
	if h.Version != "2025-06-18" || h.Name != "ab" || h.NameVersion != "1.2" {
		t.Errorf("got %+v", h)
	}
	if got, want := string(h.Capabilities), `{"roots":{"listChanged":true}, "x":1e2}`; got != want {
		t.Errorf("capabilities %s, want %s", got, want)
	}
	if got, want := string(h.Info), `{"name":"a\u0062","version":"1.2","title":"T"}`; got != want {
		t.Errorf("info %s, want %s", got, want)
	}
}

func TestParseHelloServesClientsThatSayLittle(t *testing.T) {
	for _, params := range []string{"", `{}`, `[]`, `null`, `{"protocolVersion":1,"capabilities":null,"clientInfo":"me"}`,
		`{"protocolVersion":null,"capabilities":["roots"],"clientInfo":[]}`} {
		h, err := ParseHello(request(t, Initialize, params))
		if err != nil || h.Version != "" || h.Capabilities != nil || h.Info != nil || h.Name != "" {
			t.Errorf("%s: %+v, %v", params, h, err)
		}
		if h.Has("roots") || string(h.Relayed()) != "{}" {
			t.Errorf("%s: has roots, or relays %s", params, h.Relayed())
		}
	}
	h, err := ParseHello(request(t, Initialize, `{"clientInfo":{"name":7,"version":"1"}}`))
	if err != nil || string(h.Info) != `{"name":7,"version":"1"}` || h.Name != "" {
		t.Errorf("a name that is a number: %+v, %v", h, err)
	}
}

func TestParseHelloRefusesWhatCanBeReadTwoWays(t *testing.T) {
	for _, params := range []string{
		`{"protocolVersion":"a","protocolVersion":"b"}`, `{"ProtocolVersion":"b"}`,
		`{"capabilities":{},"Capabilities":{"sampling":{}}}`, `{"clientInfo":{},"clientInfo":{}}`,
	} {
		if h, err := ParseHello(request(t, Initialize, params)); err == nil {
			t.Errorf("%s: %+v", params, h)
		}
	}
}

func TestHelloHas(t *testing.T) {
	h := Hello{Capabilities: json.RawMessage(`{"sampling":{},"r\u006fots":{"elicitation":{}},"Tasks":{}}`)}
	for capability, want := range map[string]bool{"sampling": true, "roots": true, "elicitation": false, "tasks": false, "": false} {
		if got := h.Has(capability); got != want {
			t.Errorf("%q: got %v", capability, got)
		}
	}
}

func TestHelloRelayed(t *testing.T) {
	for _, tt := range []struct{ name, capabilities, want string }{
		{"none", ``, `{}`},
		{"an empty object", `{}`, `{}`},
		{"values as they came", `{ "roots": {"listChanged" :true}, "experimental":{"x":[1.0,"\u0061"]} }`,
			`{ "roots": {"listChanged" :true}, "experimental":{"x":[1.0,"\u0061"]} }`},
		{"tasks without their list", `{"tasks":{"list":{},"cancel":{ },"requests":{"list":{}}},"sampling":{}}`, `{"tasks":{"cancel":{ },"requests":{"list":{}}},"sampling":{}}`},
		{"tasks without their list, in another spelling", `{"t\u0061sks":{"cancel":{},"l\u0069st":{}},"elicitation":{"form":{},"url":{}}}`,
			`{"t\u0061sks":{"cancel":{}},"elicitation":{"form":{},"url":{}}}`},
		{"tasks that are only a list", `{"tasks":{"list":{}}}`, `{"tasks":{}}`},
		{"tasks of another type", `{"tasks":["list"]}`, `{"tasks":["list"]}`},
		{"a list elsewhere", `{"list":{},"roots":{"list":{}}}`, `{"list":{},"roots":{"list":{}}}`},
		{"two lists", `{"tasks":{"list":{},"a":1,"list":{}}}`, `{"tasks":{"a":1}}`},
		{"a key with a quote", `{"a\"b":1}`, `{"a\"b":1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := Hello{Capabilities: json.RawMessage(tt.capabilities)}
			if got := string(h.Relayed()); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestInitializeResultOffers(t *testing.T) {
	var r InitializeResult
	if err := json.Unmarshal([]byte(`{"protocolVersion":"x","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"a","version":"b"}}`), &r); err != nil {
		t.Fatal(err)
	}
	if !r.Offers("tools") || !r.Offers("logging") || r.Offers("prompts") || r.ServerInfo.Name != "a" {
		t.Errorf("got %+v", r)
	}
	if new(InitializeResult).Offers("tools") {
		t.Error("nothing offers tools")
	}
}

func TestAppendInitializeResult(t *testing.T) {
	for version, tasks := range map[string]string{
		"2025-06-18": "", // has no tasks
		Latest:       `,"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}`,
	} {
		got := AppendInitializeResult([]byte("before "), version, `1.0"x`, "line\n\"two\"")
		want := `before {"protocolVersion":"` + version + `","capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},` +
			`"resources":{"subscribe":true,"listChanged":true},"logging":{},"completions":{},"extensions":{"io.modelcontextprotocol/ui":{}}` + tasks + `},` +
			`"serverInfo":{"name":"toolman","title":"toolman","version":"1.0\"x"},"instructions":"line\n\"two\""}`
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if !json.Valid(got[len("before "):]) {
			t.Error("not valid JSON")
		}
	}
}
