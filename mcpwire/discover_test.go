package mcpwire

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"toolman/jsonrpc"
)

func TestAppendDiscoverResult(t *testing.T) {
	got := AppendDiscoverResult([]byte("x"), `1.0"x`, "line\n\"two\"")
	want := `x{"resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":["2026-07-28"],` +
		`"capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},` +
		`"resources":{"subscribe":true,"listChanged":true},"logging":{},"completions":{},"extensions":{"io.modelcontextprotocol/ui":{}}},"instructions":"line\n\"two\"",` +
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"toolman","title":"toolman","version":"1.0\"x"}}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r, err := ParseDiscoverResult(got[1:])
	if err != nil || r.ProtocolVersion != Newest || r.ServerInfo.Name != "toolman" || !r.OffersFlag("resources", "subscribe") {
		t.Errorf("toolman behind toolman: %+v, %v", r, err)
	}
}

func TestAppendComplete(t *testing.T) {
	for method, want := range map[Method]string{
		ToolsList: `"resultType":"complete","ttlMs":0,"cacheScope":"private",`, ToolsCall: `"resultType":"complete",`,
		ResourcesRead: `"resultType":"complete","ttlMs":0,"cacheScope":"private",`, Listen: `"resultType":"complete",`,
	} {
		if got := string(AppendComplete(nil, method)); got != want {
			t.Errorf("%s: got %s, want %s", method, got, want)
		}
	}
}

func TestParseDiscoverResult(t *testing.T) {
	r, err := ParseDiscoverResult([]byte(`{"resultType":"complete","supportedVersions":["2025-11-25","2026-07-28"],"capabilities":{"tools":{},` +
		`"resources":{"subscribe":true,"listChanged":1}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"2"}},"instructions":"i","ttlMs":1}`))
	if err != nil || r.ProtocolVersion != "2026-07-28" || r.ServerInfo.Name != "s" || r.ServerInfo.Version != "2" || r.Instructions != "i" {
		t.Errorf("got %+v, %v", r, err)
	}
	for capability, want := range map[string]bool{"tools": true, "resources": true, "logging": false} {
		if r.Offers(capability) != want {
			t.Errorf("%s: want %v", capability, want)
		}
	}
	for flag, want := range map[string]bool{"subscribe": true, "listChanged": false, "x": false} {
		if r.OffersFlag("resources", flag) != want || r.OffersFlag("logging", flag) {
			t.Errorf("%s: want %v", flag, want)
		}
	}
	for result, want := range map[string]string{
		`{"supportedVersions":["2025-11-25"]}`:                                                           "", // wants a handshake
		`{"supportedVersions":[]}`:                                                                       "",
		`{"supportedVersions":["2026-07-28"],"capabilities":null,"_meta":null}`:                          "2026-07-28",
		`{"supportedVersions":["2026-07-28"],"_meta":{"io.modelcontextprotocol/serverInfo":"a server"}}`: "2026-07-28",
	} {
		if r, err := ParseDiscoverResult([]byte(result)); err != nil || r.ProtocolVersion != want || r.ServerInfo.Name != "" || r.Offers("tools") {
			t.Errorf("%s: got %+v, %v", result, r, err)
		}
	}
	for _, result := range []string{`{}`, `null`, `[]`, `"x"`, `{"supportedVersions":"2026-07-28"}`, `{"supportedVersions":null}`, `{"tools":[]}`} {
		if r, err := ParseDiscoverResult([]byte(result)); err == nil {
			t.Errorf("%s was accepted: %+v", result, r)
		}
	}
}

func TestListedVersions(t *testing.T) {
	refused := func(code int64, data string) error {
		e := &jsonrpc.Error{Code: code, Message: "no"}
		if raw := json.RawMessage(data); data != "" {
			e.Data = &raw
		}
		return fmt.Errorf("server/discover: %w", e)
	}
	for _, tt := range []struct {
		name   string
		err    error
		want   []string
		modern bool
	}{
		{"a modern server", refused(-32022, `{"supported":["2026-07-28","2025-11-25"],"requested":"x"}`), []string{"2026-07-28", "2025-11-25"}, true},
		{"a modern server that does not say more", refused(-32022, ""), nil, true},
		{"a modern server that says it badly", refused(-32022, `{"supported":"2026-07-28"}`), nil, true},
		{"a modern server that misses a header", refused(-32020, ""), nil, true},
		{"an older server that names revisions", refused(-32602, `{"supported":["2024-11-05"]}`), []string{"2024-11-05"}, false},
		{"a server that does not know the method", refused(-32601, ""), nil, false},
		{"no answer", jsonrpc.ErrClosed, nil, false},
		{"no error", nil, nil, false},
		{"another error", errors.New("x"), nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, modern := ListedVersions(tt.err); !slices.Equal(got, tt.want) || modern != tt.modern {
				t.Errorf("got %q, %v, want %q, %v", got, modern, tt.want, tt.modern)
			}
		})
	}
}
