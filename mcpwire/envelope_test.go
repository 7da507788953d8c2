package mcpwire

import (
	"errors"
	"strings"
	"testing"

	"toolman/jsonrpc"
)

const (
	versionMember = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	bareClaim     = versionMember + `,"io.modelcontextprotocol/clientCapabilities":{}`
)

// spliced applies edits to a message and checks that it still is one.
func spliced(t testing.TB, m *jsonrpc.Message, edits []jsonrpc.Edit) string {
	t.Helper()
	after := jsonrpc.AppendSplice(nil, m.Frame, edits...)
	var n jsonrpc.Message
	if err := jsonrpc.Scan(after, &n); err != nil {
		t.Fatalf("%s became %s: %v", m.Frame, after, err)
	}
	return string(after)
}

func envelope(t testing.TB, m *jsonrpc.Message) Envelope {
	t.Helper()
	e, err := envelopeOf(m)
	if err != nil {
		t.Fatalf("%s: %v", m.Frame, err)
	}
	return e
}

func TestEnvelopeOfAModernRequest(t *testing.T) {
	m := request(t, ToolsCall, `{"name":"n","arguments":{"_meta":{}},"_meta":{`+bareClaim+
		`, "io.modelcontextprotocol/clientInfo" : {"name":"C"},"io.modelcontextprotocol/logLevel":"info","progressToken":0,"traceparent":"00"}}`)
	e := envelope(t, m)
	if !e.Claims() {
		t.Error("it claims to be modern")
	}
	for _, tt := range []struct {
		got  jsonrpc.Member
		want string
	}{
		{e.Version, `"2026-07-28"`}, {e.Capabilities, `{}`}, {e.ClientInfo, `{"name":"C"}`}, {e.LogLevel, `"info"`}, {e.Token, `0`},
	} {
		checkSpan(t, m, tt.got.Value, nil, tt.want)
	}
}

func TestEnvelopeOfMessagesThatClaimNothing(t *testing.T) {
	for _, params := range []string{
		``, `{}`, `[]`, `null`, `{"_meta":null}`, `{"_meta":[]}`, `{"_meta":{}}`, `{"_meta":{"progressToken":"t"}}`,
		`{"_meta":{"io.modelcontextprotocol/clientCapabilities":7,"io.modelcontextprotocol/logLevel":"loud"}}`,
		`{"arguments":{"_meta":{` + bareClaim + `}}}`, `{"_meta":{"x":{` + bareClaim + `}}}`,
	} {
		if e := envelope(t, request(t, ToolsCall, params)); e.Claims() {
			t.Errorf("%s claims to be modern", params)
		}
	}
	m := request(t, ToolsCall, `{"_meta":{"progressToken":{}}}`)
	if e := envelope(t, m); e.Token.Present() {
		t.Error("an object is no progress token")
	}
}

func TestEnvelopeOfRefusesBadClaims(t *testing.T) {
	const (
		capabilities = `"io.modelcontextprotocol/clientCapabilities":{}`
		version      = `"io.modelcontextprotocol/protocolVersion":`
		level        = `,"io.modelcontextprotocol/logLevel":`
	)
	tests := []struct {
		name, meta string
		code       int64
		says       string
	}{
		{"a version that is null", version + `null,` + capabilities, -32602, "protocolVersion must be a string"},
		{"a version that is a number", version + `20260728,` + capabilities, -32602, "protocolVersion must be a string"},
		{"no capabilities", version + `"2026-07-28"`, -32602, "clientCapabilities must be an object"},
		{"capabilities that are null", version + `"2026-07-28","io.modelcontextprotocol/clientCapabilities":null`, -32602, "clientCapabilities must be"},
		{"capabilities that are a list", version + `"2026-07-28","io.modelcontextprotocol/clientCapabilities":["roots"]`, -32602, "clientCapabilities must be"},
		{"a level that does not exist", bareClaim + level + `"loud"`, -32602, "logLevel must be debug"},
		{"a level that is null", bareClaim + level + `null`, -32602, "logLevel must be debug"},
		{"a revision to come", version + `"2027-01-01"`, -32022, "Unsupported protocol version"},
		{"an empty revision", version + `"",` + capabilities, -32022, "Unsupported protocol version"},
		{"a revision with a handshake", version + `"2025-11-25",` + capabilities, -32022, "Unsupported protocol version"},
		{"two versions", bareClaim + `,` + versionMember, -32602, "stands there twice"},
		{"two versions, one of them escaped", bareClaim + `,"io.modelcontextprotocol\/protocolVersion":"2026-07-28"`, -32602, "stands there twice"},
		{"a look-alike of the version", capabilities + `,"io.modelcontextprotocol/ProtocolVersion":"2026-07-28"`, -32602, "spelled almost like"},
		{"two lists of capabilities", bareClaim + `,` + capabilities, -32602, "stands there twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := envelopeOf(request(t, ToolsCall, `{"name":"n","_meta":{`+tt.meta+`}}`))
			why, ok := errors.AsType[*Refusal](err)
			if !ok || why.Code != tt.code || !strings.Contains(why.Message, tt.says) {
				t.Errorf("got %v (%+v), want %d and %q", err, why, tt.code, tt.says)
			}
		})
	}
	if _, err := envelopeOf(request(t, ToolsCall, `{"_meta":{},"_Meta":{}}`)); err == nil {
		t.Error("a look-alike of _meta was accepted")
	}
}

func TestRefusalsAreErrorsForEveryMethod(t *testing.T) {
	_, err := envelopeOf(request(t, ToolsCall, `{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01"}}`))
	why, _ := errors.AsType[*Refusal](err)
	want := `{"jsonrpc":"2.0","id":"7","error":{"code":-32022,"message":"Unsupported protocol version",` +
		`"data":{"supported":["2026-07-28"],"requested":"1900-01-01"}}}`
	if got := string(why.Append(nil, []byte(`"7"`))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	_, err = envelopeOf(request(t, ToolsCall, `{"_meta":{"io.modelcontextprotocol/protocolVersion":"`+strings.Repeat("é", 1000)+`"}}`))
	if why, _ := errors.AsType[*Refusal](err); len(why.Data) > 200 || !jsonrpc.Valid(why.Data) {
		t.Errorf("a long version is answered with %s", why.Data)
	}
	want = `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":{"success":false,"result":null,"error":"no"}}}`
	if got := string(Invalid("no").Append(nil, []byte(`1`))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	want = `{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"it asks","data":{"requiredCapabilities":{"sampling":{}}}}}`
	if got := string(MissingCapability(`{"sampling":{}}`, "it asks").Append(nil, []byte(`1`))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestStripEnvelope(t *testing.T) {
	const info, level = `"io.modelcontextprotocol/clientInfo":{"name":"C"}`, `"io.modelcontextprotocol/logLevel":"info"`
	tests := []struct{ name, params, want string }{
		{"nothing else in _meta", `{"name":"n","_meta":{` + bareClaim + `,` + info + `,` + level + `},"arguments":{}}`, `{"name":"n","arguments":{}}`},
		{"nothing else in params", `{"_meta":{` + bareClaim + `}}`, `{}`},
		{"_meta first, with spaces", `{ "_meta" : { ` + bareClaim + ` } , "name":"n" }`, `{ "name":"n" }`},
		{"_meta in another spelling, last", `{"name":"n" , "\u005fmeta":{` + bareClaim + `}}`, `{"name":"n" }`},
		{"a token first", `{"_meta":{"progressToken":1,` + bareClaim + `},"name":"n"}`, `{"_meta":{"progressToken":77},"name":"n"}`},
		{"a token last", `{"_meta":{` + bareClaim + `,` + level + `,"progressToken":1}}`, `{"_meta":{"progressToken":77}}`},
		{"a token in the middle", `{"_meta":{` + bareClaim + `,"progressToken":1,` + info + `}}`, `{"_meta":{"progressToken":77}}`},
		{"keys that are not the envelope's", `{"_meta":{"a/b":1,` + bareClaim + `,"traceparent":"00",` + info + `,"io.modelcontextprotocol/x":2}}`,
			`{"_meta":{"a/b":1,"traceparent":"00","io.modelcontextprotocol/x":2}}`},
		{"an escaped key", `{"_meta":{` + versionMember + `,"io.modelcontextprotocol\/clientCapabilities":{},"a":1}}`, `{"_meta":{"a":1}}`},
		{"more params than are remembered", strings.Replace(many, "{", `{"_meta":{`+bareClaim+`},`, 1), many},
		{"nothing to strip", `{"name":"n","_meta":{"progressToken":1}}`, `{"name":"n","_meta":{"progressToken":77}}`},
		{"an empty _meta", `{"name":"n","_meta":{}}`, `{"name":"n","_meta":{}}`},
		{"no _meta", `{"name":"n"}`, `{"name":"n"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := request(t, ToolsCall, tt.params)
			e := envelope(t, m)
			edits := []jsonrpc.Edit{{Span: m.ID, New: []byte("77")}}
			if e.Token.Present() {
				edits = append(edits, jsonrpc.Edit{Span: e.Token.Value, New: []byte("77")})
			}
			got := spliced(t, m, StripEnvelope(edits, m, &e))
			if want := `{"jsonrpc":"2.0","id":77,"method":"tools/call","params":` + tt.want + `}`; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// many is an object with more members than a message remembers.
var many = `{"name":"n"` + strings.Repeat(`,"x":1`, 20) + `}`

func TestClaimAddTo(t *testing.T) {
	hello := Hello{Capabilities: []byte(`{"roots":{ },"t\u0061sks":{"list":{}}}`), Info: []byte(`{"name":"a","version":"1"}`)}
	claim := hello.Claim("info")
	const added = versionMember + `,"io.modelcontextprotocol/clientCapabilities":{"roots":{ }},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"},"io.modelcontextprotocol/logLevel":"info"`
	tests := []struct{ name, params, want string }{
		{"a _meta with a token", `{"name":"n","_meta":{"progressToken":1}}`, `{"name":"n","_meta":{` + added + `,"progressToken":77}}`},
		{"an empty _meta", `{"_meta":{},"name":"n"}`, `{"_meta":{` + added + `},"name":"n"}`},
		{"no _meta", `{"name":"n","arguments":{}}`, `{"_meta":{` + added + `},"name":"n","arguments":{}}`},
		{"a _meta that is null", `{"name":"n","_meta":null}`, `{"name":"n","_meta":{` + added + `}}`},
		{"empty params", `{}`, `{"_meta":{` + added + `}}`},
		{"params that are null", `null`, `{"_meta":{` + added + `}}`},
		{"no params", ``, `{"_meta":{` + added + `}}`},
		{"params that are a list", `[1]`, `[1]`},
		{"keys of the envelope without a claim", `{"_meta":{"io.modelcontextprotocol/logLevel":"x","io.modelcontextprotocol/clientCapabilities":[]}}`, `{"_meta":{` + added + `}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := request(t, ToolsCall, tt.params)
			e := envelope(t, m)
			edits := []jsonrpc.Edit{{Span: m.ID, New: []byte("77")}}
			if e.Token.Present() {
				edits = append(edits, jsonrpc.Edit{Span: e.Token.Value, New: []byte("77")})
			}
			got := spliced(t, m, claim.AddTo(edits, m, &e))
			if want := `{"jsonrpc":"2.0","id":77,"method":"tools/call","params":` + tt.want + `}`; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestClaimAppendParams(t *testing.T) {
	bare := NewClaim(nil, nil, "")
	if got, want := string(bare.AppendParams([]byte("x"), nil)), `x{"_meta":{`+bareClaim+`}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := string(bare.AppendParams(nil, []byte(`"cursor":""`))), `{"_meta":{`+bareClaim+`},"cursor":""}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	e := envelope(t, request(t, ToolsList, string(bare.AppendParams(nil, nil))))
	if !e.Claims() {
		t.Error("toolman does not know its own claim")
	}
}

func TestLevelRank(t *testing.T) {
	last := -1
	for _, level := range []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"} { // RFC 5424, upside down
		rank, ok := LevelRank([]byte(level))
		if !ok || rank <= last {
			t.Errorf("%s: got %d, %v behind %d", level, rank, ok, last)
		}
		last = rank
	}
	for _, level := range []string{"", "warn", "Info"} {
		if rank, ok := LevelRank([]byte(level)); ok {
			t.Errorf("%q: got %d", level, rank)
		}
	}
}

func TestEnvelopesAllocateNothing(t *testing.T) {
	legacy := request(t, ToolsCall, `{"name":"n","arguments":{"a":1},"_meta":{"progressToken":1}}`)
	modern := request(t, ToolsCall, `{"name":"n","arguments":{"a":1},"_meta":{"progressToken":1,`+bareClaim+`}}`)
	claim := NewClaim([]byte(`{"roots":{}}`), nil, "info")
	room := make([]jsonrpc.Edit, 0, 8)
	for name, f := range map[string]func() int{
		"adding":    func() int { e, _ := envelopeOf(legacy); return len(claim.AddTo(room, legacy, &e)) },
		"stripping": func() int { e, _ := envelopeOf(modern); return len(StripEnvelope(room, modern, &e)) },
	} {
		if n := testing.AllocsPerRun(100, func() {
			if f() != 1 {
				t.Error("not one edit")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func envelopeOf(m *jsonrpc.Message) (e Envelope, err error) {
	err = e.Read(m)
	return e, err
}
