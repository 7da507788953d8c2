package mcpwire

import (
	"fmt"
	"testing"

	"toolman/jsonrpc"
)

func TestNotificationsOfASubscription(t *testing.T) {
	for _, id := range []string{`1`, `"1"`, `"l\u0069sten:0"`, `-5`, `1.0`} {
		for _, tt := range []struct{ got, want string }{
			{string(AppendAcknowledged(nil, []byte(id), &Filter{ToolsListChanged: true})),
				`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `},"notifications":{"toolsListChanged":true}}}`},
			{string(AppendListChanged(nil, []byte(id), PromptsListChanged)),
				`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}}`},
			{string(AppendUpdated(nil, []byte(id), `a"b`)),
				`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `},"uri":"a\"b"}}`},
		} {
			if tt.got != tt.want {
				t.Errorf("got  %s\nwant %s", tt.got, tt.want)
			}
			m := rescan(t, tt.got)
			at, err := SubscriptionOf(m)
			checkSpan(t, m, at.Value, err, id)
		}
	}
	want := `{"jsonrpc":"2.0","id":"l","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}`
	if got := string(AppendListenEnd(nil, []byte(`"l"`))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func notification(t testing.TB, params string) *jsonrpc.Message {
	t.Helper()
	if params != "" {
		params = `,"params":` + params
	}
	var m jsonrpc.Message
	if err := jsonrpc.Scan(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"n"%s}`, params), &m); err != nil {
		t.Fatalf("%s: %v", params, err)
	}
	return &m
}

func TestSubscriptionOfOtherNotifications(t *testing.T) {
	for _, params := range []string{``, `{}`, `[]`, `{"_meta":null}`, `{"_meta":{}}`, `{"_meta":{"io.modelcontextprotocol/subscriptionId":null}}`,
		`{"_meta":{"io.modelcontextprotocol/subscriptionId":{}}}`, `{"io.modelcontextprotocol/subscriptionId":1}`} {
		if at, err := SubscriptionOf(notification(t, params)); err != nil || at.Present() {
			t.Errorf("%s: got %v, %v", params, at, err)
		}
	}
	for _, params := range []string{`{"_meta":{},"_meta":{}}`, `{"_meta":{"io.modelcontextprotocol/subscriptionId":1,"io.modelcontextprotocol/subscriptionId":2}}`,
		`{"_meta":{"io.modelcontextprotocol/subscriptionID":1}}`} {
		if at, err := SubscriptionOf(notification(t, params)); err == nil {
			t.Errorf("%s was accepted: %v", params, at)
		}
	}
}

func TestNotificationsChangeSubscriptions(t *testing.T) {
	const id = `"io.modelcontextprotocol/subscriptionId":`
	tests := []struct{ name, params, on, off string }{
		{"no params", ``, `{"_meta":{` + id + `"s"}}`, ``},
		{"params that are null", `null`, `{"_meta":{` + id + `"s"}}`, `null`},
		{"empty params", `{}`, `{"_meta":{` + id + `"s"}}`, `{}`},
		{"a URI", `{"uri":"a:b"}`, `{"_meta":{` + id + `"s"},"uri":"a:b"}`, `{"uri":"a:b"}`},
		{"another subscription", `{"_meta":{` + id + `7},"uri":"a"}`, `{"_meta":{` + id + `"s"},"uri":"a"}`, `{"uri":"a"}`},
		{"another subscription alone", `{"_meta":{` + id + `7}}`, `{"_meta":{` + id + `"s"}}`, `{}`},
		{"other things in _meta", `{"_meta":{"a":1, ` + id + `7}}`, `{"_meta":{"a":1, ` + id + `"s"}}`, `{"_meta":{"a":1}}`},
		{"a _meta without a subscription", `{"_meta":{"a":1}}`, `{"_meta":{` + id + `"s","a":1}}`, `{"_meta":{"a":1}}`},
		{"a _meta that is null", `{"_meta":null}`, `{"_meta":{` + id + `"s"}}`, `{"_meta":null}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := notification(t, tt.params)
			edits, err := ToSubscription(nil, m, []byte(`"s"`))
			if got, want := spliced(t, m, edits), string(notification(t, tt.on).Frame); err != nil || got != want {
				t.Errorf("%v, got %s, want %s", err, got, want)
			}
			at, err := SubscriptionOf(m)
			if err != nil {
				t.Fatal(err)
			}
			edits, err = FromSubscription(nil, m, at)
			if got, want := spliced(t, m, edits), string(notification(t, tt.off).Frame); err != nil || got != want {
				t.Errorf("%v, got %s, want %s", err, got, want)
			}
		})
	}
}

func TestSubscriptionsThatCanBeReadTwoWays(t *testing.T) {
	for _, params := range []string{`{"_meta":{},"_meta":{}}`, `{"_meta":{"io.modelcontextprotocol/subscriptionId":1,"io.modelcontextprotocol/SubscriptionId":2}}`} {
		if edits, err := ToSubscription(nil, notification(t, params), []byte("1")); err == nil {
			t.Errorf("%s was put on a subscription: %v", params, edits)
		}
	}
}
