package router

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/mcpwire"
	"toolman/router/upstream"
)

// discovered is the result of a server/discover.
func discovered(versions string) string {
	return `"result":{"resultType":"complete","supportedVersions":[` + versions + `],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private"}`
}

const (
	refusedMethod  = `"error":{"code":-32601,"message":"Method not found"}`
	refusedVersion = `"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"x"}}`
	refusedHeader  = `"error":{"code":-32020,"message":"Missing MCP-Protocol-Version header"}`
	refusedClient  = `"error":{"code":-32603,"message":"needs a login with more rights"}`
)

// What a server is asked first depends on the client; what it answers decides.
func TestTheEraOfAServerIsFoundOut(t *testing.T) {
	modern, legacy := discovered(`"2026-07-28"`), hello("2025-11-25", `{}`)
	for _, tt := range []struct {
		name     string
		client   string // its revision
		era      mcpwire.Era
		answers  string // by method and turn
		said     string
		revision string // "": it fails
	}{
		{"a modern server that denies access", "2026-07-28", 0, "discover=" + refusedClient + "|initialize=" + refusedHeader + "|discover=" + refusedClient, "server/discover initialize server/discover", ""},
		{"a legacy client and a modern server that denies access", "2025-11-25", 0, "initialize=" + refusedHeader + "|discover=" + refusedClient, "initialize server/discover", ""},
		{"a modern server", "2026-07-28", 0, "discover=" + modern, "server/discover subscriptions/listen tools/list", "2026-07-28"},
		{"a legacy server", "2026-07-28", 0, "discover=" + refusedMethod + "|initialize=" + legacy, "server/discover initialize notifications/initialized tools/list", "2025-11-25"},
		{"one that never answers the probe", "2026-07-28", 0, "initialize=" + legacy, "server/discover initialize notifications/initialized tools/list", "2025-11-25"},
		{"one that discovers but wants a handshake", "2026-07-28", 0, "discover=" + discovered(`"2025-11-25"`) + "|initialize=" + legacy, "server/discover initialize notifications/initialized tools/list", "2025-11-25"},
		{"one that takes another's claim for ours", "2026-07-28", 0, "discover=" + refusedVersion + "|discover=" + modern, "server/discover server/discover subscriptions/listen tools/list", "2026-07-28"},
		{"a slow modern server", "2026-07-28", 0, "discover=" + refusedMethod + "|initialize=" + refusedVersion + "|discover=" + modern, "server/discover initialize server/discover subscriptions/listen tools/list", "2026-07-28"},
		{"forced to be legacy", "2026-07-28", mcpwire.Legacy, "initialize=" + legacy, "initialize notifications/initialized tools/list", "2025-11-25"},
		{"forced to be modern and is not", "2026-07-28", mcpwire.Modern, "discover=" + refusedMethod, "server/discover", ""},
		{"forced to be modern and speaks no such revision", "2026-07-28", mcpwire.Modern, "discover=" + discovered(`"2025-11-25"`), "server/discover", ""},
		{"a legacy client and server", "2025-11-25", 0, "initialize=" + legacy, "initialize notifications/initialized tools/list", "2025-11-25"},
		{"a legacy client and a modern server", "2025-11-25", 0, "initialize=" + refusedVersion + "|discover=" + modern, "initialize server/discover subscriptions/listen tools/list", "2026-07-28"},
		{"a legacy client, forced to be modern", "2025-11-25", mcpwire.Modern, "discover=" + modern, "server/discover subscriptions/listen tools/list", "2026-07-28"},
		{"a legacy client, forced to be legacy and is not", "2025-11-25", mcpwire.Legacy, "initialize=" + refusedVersion, "initialize", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(t, setup{silent: true, active: []string{"*"}}, offer{namespace: "ns", late: true})
				server := g.servers[0]
				server.converses()
				server.u.Era = tt.era
				g.r.handshake(mcpwire.Hello{Version: tt.client, Capabilities: json.RawMessage("{}")})
				said, err := server.meets(t, strings.Split(tt.answers, "|"))
				if got := strings.Join(said, " "); got != tt.said {
					t.Errorf("said %s, want %s", got, tt.said)
				}
				if (err == nil) != (tt.revision != "") || upstream.Simulate(server.u).Result().ProtocolVersion != tt.revision {
					t.Errorf("revision %q, %v", upstream.Simulate(server.u).Result().ProtocolVersion, err)
				}
				if strings.Contains(tt.answers, refusedClient) && (err == nil || !strings.Contains(err.Error(), "more rights")) {
					t.Errorf("the error does not say why access is denied: %v", err)
				}
				if server.u.Source.Modern != (tt.revision == mcpwire.Newest) {
					t.Errorf("modern: %v", server.u.Source.Modern)
				}
			})
		})
	}
}

// meets brings a server up that answers each request with the next of its answers, if that is
// to this method.
func (l *link) meets(t *testing.T, answers []string) (said []string, err error) {
	done := make(chan error, 1)
	go func() { done <- upstream.Simulate(l.u).Prepare(t.Context()) }()
	for {
		said = append(said, l.gives(func(method, params string) string {
			if method == "tools/list" {
				return list(mcpwire.Tool, "", "a")
			}
			if len(answers) > 0 {
				if of, outcome, _ := strings.Cut(answers[0], "="); strings.HasSuffix(method, of) {
					answers = answers[1:]
					return outcome
				}
			}
			return ""
		})...)
		select {
		case err := <-done:
			return said, err
		case <-time.After(probeTimeout + time.Second):
		}
	}
}
