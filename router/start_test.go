package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/upstream"
)

// starting is a rig whose one server is to be brought up, for a client that has said this of
// itself.
func starting(t *testing.T, capabilities string) (g *rig, server *link) {
	g = newRig(t, setup{active: []string{"*"}, capabilities: capabilities, Options: Options{Version: "1.2"}}, offer{namespace: "ns", late: true})
	g.servers[0].converses()
	return g, g.servers[0]
}

// prepares brings a server up, whose requests answer answers.
func (l *link) prepares(ctx context.Context, answer func(method, params string) string) (methods []string, err error) {
	l.t.Helper()
	done := make(chan error, 1)
	go func() { done <- upstream.Simulate(l.u).Prepare(ctx) }()
	methods = l.gives(answer)
	select {
	case err = <-done:
		return methods, err
	case <-time.After(time.Hour):
		l.t.Fatal("the handshake does not end")
		return nil, nil
	}
}

// hello is the result of an initialize.
func hello(version, capabilities string) string {
	return `"result":{"protocolVersion":"` + version + `","capabilities":` + capabilities + `,"serverInfo":{"name":"s","version":"1"},"instructions":"do"}`
}

func TestHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, server := starting(t, `{"roots":{"listChanged":true},"x":1.0}`)
		methods, err := server.prepares(t.Context(), func(method, params string) string {
			switch method {
			case "initialize":
				want := `{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"x":1.0},"clientInfo":{"name":"rig","version":"1"}}`
				if params != want {
					t.Errorf("initialize with\n%s, want\n%s", params, want)
				}
				return hello("2025-06-18", `{"tools":{},"prompts":{"listChanged":true}}`)
			case "tools/list":
				return list(mcpwire.Tool, "", "a")
			case "prompts/list":
				return list(mcpwire.Prompt, "", "p")
			}
			return ""
		})
		if err != nil {
			t.Fatal(err)
		}
		if methods[0] != "initialize" || methods[1] != "notifications/initialized" || len(methods) != 4 {
			t.Errorf("said %q", methods)
		}
		upstream.Simulate(server.u).Ready(5*time.Second, *upstream.Simulate(server.u).Result())
		st := server.u.Status()
		if st.State != upstream.Ready || st.Result.ProtocolVersion != "2025-06-18" || st.Result.ServerInfo.Name != "s" || st.Took != 5*time.Second {
			t.Errorf("status %+v", st)
		}
		checkList(t, "tools", namesOf(g.view().ActiveEntries(mcpwire.Tool)), "ns_a")
		checkList(t, "prompts", namesOf(g.view().ActiveEntries(mcpwire.Prompt)), "ns_p")
	})
}

// A client that says nothing of itself is toolman, to the servers.
func TestHandshakeWithoutAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, setup{silent: true, Options: Options{Version: `1"2`}}, offer{namespace: "ns", late: true})
		g.r.HandshakeMinimal()
		g.servers[0].converses()
		_, err := g.servers[0].prepares(t.Context(), func(method, params string) string {
			if want := `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"toolman","version":"1\"2"}}`; method == "initialize" && params != want {
				t.Errorf("initialize with %s, want %s", params, want)
			}
			return hello("2025-11-25", `{}`)
		})
		if err == nil { // what answers tools/list is no list
			t.Error("no error")
		}
	})
}

func TestHandshakesThatFail(t *testing.T) {
	for _, tt := range []struct{ name, answer, says string }{
		{"a revision of the future", hello("2099-01-01", `{}`), `initialize: the server speaks revision "2099-01-01", which toolman does not support`},
		{"a revision that hides something", hello(`\u001b[2J`, `{}`), `initialize: the server speaks revision " [2J", which toolman does not support`},
		{"no revision", `"result":{}`, `initialize: the server speaks revision "", which toolman does not support`},
		{"another shape", `"result":[1]`, "initialize: invalid result: "},
		{"capabilities of another shape", `"result":{"protocolVersion":"2025-11-25","capabilities":[]}`, "initialize: invalid result: "},
		{"an error", `"error":{"code":-32000,"message":"not today"}`, "initialize: not today (error -32000)"},
		{"an error of another shape", `"error":{"code":"x"}`, "initialize: the error response is malformed (error -32603)"},
		{"no answer", "", "initialize: too late"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, server := starting(t, "")
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("too late"))
				defer cancel()
				methods, err := server.prepares(ctx, always(tt.answer))
				if err == nil || !strings.HasPrefix(err.Error(), tt.says) {
					t.Errorf("says %v, want %s", err, tt.says)
				}
				if strings.HasPrefix(tt.name, "an error") { // it may be a server of the modern era
					checkList(t, "said", methods, "initialize", "server/discover")
				} else {
					checkList(t, "said", methods, "initialize")
				}
				server.hears() // it may be told that the request is cancelled
			})
		})
	}
}

// Servers that take only the revision they know say which that is.
func TestAnOfferedRevisionIsTaken(t *testing.T) {
	for _, tt := range []struct {
		name, data string
		tries      []string
	}{
		{"one that toolman speaks", `{"supported":["1999-01-01","2024-11-05","2025-03-26"]}`, []string{"2025-11-25", "2025-03-26"}},
		{"none that toolman speaks", `{"supported":["1999-01-01"]}`, []string{"2025-11-25"}},
		{"another shape", `{"supported":"2024-11-05"}`, []string{"2025-11-25"}},
		{"nothing", `null`, []string{"2025-11-25"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, server := starting(t, "")
				var tries []string
				_, err := server.prepares(t.Context(), func(method, params string) string {
					var p mcpwire.InitializeParams
					if method != "initialize" {
						return list(mcpwire.Tool, "")
					}
					if err := json.Unmarshal([]byte(params), &p); err != nil {
						t.Fatal(err)
					}
					if tries = append(tries, p.ProtocolVersion); p.ProtocolVersion == "2025-11-25" {
						return `"error":{"code":-32602,"message":"no","data":` + tt.data + `}`
					}
					return hello(p.ProtocolVersion, `{}`)
				})
				checkList(t, "tried", tries, tt.tries...)
				if (err == nil) != (len(tt.tries) == 2) {
					t.Errorf("error %v", err)
				}
			})
		})
	}
}

// A list that fails costs only its own kind, unless nothing can be read.
func TestAListThatFailsCostsItsKind(t *testing.T) {
	const no = `"error":{"code":-32603,"message":"no"}`
	for fails, want := range map[string]bool{"": true, "tools/list": true, "prompts/list": true, "tools/list prompts/list resources/list": true,
		"tools/list prompts/list resources/list resources/templates/list": false} {
		t.Run(fails, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, server := starting(t, "")
				_, err := server.prepares(t.Context(), func(method, _ string) string {
					for _, k := range allKinds {
						if method == string(k.ListMethod()) && !strings.Contains(fails+" ", method+" ") {
							return list(k, "", "x")
						}
					}
					if method == "initialize" {
						return hello("2025-11-25", `{"tools":{},"prompts":{},"resources":{}}`)
					}
					return no
				})
				if (err == nil) != want {
					t.Errorf("error %v", err)
				}
				for _, k := range allKinds {
					got, want := len(upstream.Simulate(server.u).Entries(k)) == 1, !strings.Contains(fails+" ", string(k.ListMethod())+" ")
					if got != want {
						t.Errorf("%s: %d entries", k, len(upstream.Simulate(server.u).Entries(k)))
					}
				}
			})
		})
	}
}

func TestStatesHaveNames(t *testing.T) {
	if got := fmt.Sprint(upstream.Starting, upstream.Ready, upstream.Gone, catalog.Unknown, catalog.Inactive, catalog.Ambiguous, catalog.Active); got != "starting ready gone unknown inactive ambiguous active" {
		t.Errorf("got %s", got)
	}
}
