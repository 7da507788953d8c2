package httpd

import (
	"encoding/base64"
	"net/http"
	"testing"
	"unicode/utf8"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpheader"
)

// What passes the cross-check says the same in its headers and in its body, however it is
// spelled: who decides by the headers decides as toolman does.
func FuzzHeadersAndBody(f *testing.F) {
	plain := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"region":"us","n":42},` + envelope("") + `}}`
	f.Add(plain, "2026-07-28", "tools/call", "echo", "us", "42")
	f.Add(plain, "2026-07-28", "tools/call", "=?base64?ZWNobw==?=", "=?base64?dXM=?=", "42.0")
	f.Add(plain, "2026-07-28", "Tools/Call", "echo ", "us\x00", "4e1")
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a\u0062c","u\u0072i":"x",`+envelope("")+`}}`, "2026-07-28", "resources/read", "abc", "", "")
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"prompts\/get","params":{"name":"=?base64?eA==?=",`+envelope("")+`}}`, "2026-07-28", "prompts/get", "=?base64?eA==?=", "", "")
	const schema = `{"properties":{"region":{"x-mcp-header":"Region"},"n":{"x-mcp-header":"N"}}}`
	f.Fuzz(func(t *testing.T, body, version, method, name, region, n string) {
		var m jsonrpc.Message
		if jsonrpc.Scan([]byte(body), &m) != nil || m.Kind != jsonrpc.Request {
			return
		}
		h := http.Header{}
		for key, value := range map[string]string{httpheader.Version: version, httpheader.Method: method, httpheader.Name: name, httpheader.Param + "Region": region, httpheader.Param + "N": n} {
			if value != "" {
				h.Set(key, value)
			}
		}
		var e mcpwire.Envelope
		err := e.Read(&m)
		called := mcpwire.MethodOf(m.Text(m.Method))
		if !e.Claims() || mismatch(h, &m, &e, called, err) != nil {
			return
		}
		if trimmed(version) != string(m.Text(e.Version.Value)) || trimmed(method) != string(m.Text(m.Method)) {
			t.Errorf("version %q or method %q passed for %s", version, method, body)
		}
		at, _, _ := mcpwire.Target(&m, called)
		if named := called == mcpwire.ToolsCall || called == mcpwire.PromptsGet || called == mcpwire.ResourcesRead; named && at.Present() && !stands(name, string(m.Text(at))) {
			t.Errorf("name %q passed for %s", name, body)
		}
		if called != mcpwire.ToolsCall || paramMismatch(h, &m, []byte(schema)) != nil {
			return
		}
		arguments, _ := m.Param("arguments")
		if at, err := m.Get(arguments, "region"); err == nil && m.IsString(at) && !stands(region, string(m.Text(at))) {
			t.Errorf("parameter %q passed for %s", region, body)
		}
	})
}

func trimmed(value string) string {
	for value != "" && (value[0] == ' ' || value[0] == '\t') {
		value = value[1:]
	}
	for value != "" && (value[len(value)-1] == ' ' || value[len(value)-1] == '\t') {
		value = value[:len(value)-1]
	}
	return value
}

// stands reports whether a header's value means this text: it is that, or encodes it.
func stands(value, text string) bool {
	value = trimmed(value)
	return value == text && utf8.ValidString(text) || value == "=?base64?"+base64.StdEncoding.EncodeToString([]byte(text))+"?="
}
