package mcpwire

import (
	"encoding/json"
	"slices"
	"testing"

	"toolman/jsonrpc"
)

// FuzzToSubscription checks that a notification is known by the subscription it was put on, and by
// none when it was taken off.
func FuzzToSubscription(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `{}`, `[1]`, `{"uri":"a","_meta":{}}`, `{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"a":2}`,
		`{"_meta":{"a":1,"io.modelcontextprotocol\/subscriptionId":[]}}`, `{"\u005fmeta":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, params []byte) {
		frame := `{"jsonrpc":"2.0","method":"n"}`
		if len(params) > 0 {
			frame = `{"jsonrpc":"2.0","method":"n","params":` + string(params) + `}`
		}
		var m jsonrpc.Message
		if jsonrpc.Scan([]byte(frame), &m) != nil || m.Kind != jsonrpc.Notification {
			return
		}
		edits, err := ToSubscription(nil, &m, []byte(`"s:0"`))
		if err != nil || m.Params.Present() && !m.IsObject(m.Params) && string(m.Bytes(m.Params)) != "null" {
			return
		}
		on := rescan(t, spliced(t, &m, edits))
		at, err := SubscriptionOf(on)
		checkSpan(t, on, at.Value, err, `"s:0"`)
		edits, err = FromSubscription(nil, on, at)
		if err != nil {
			t.Fatal(err)
		}
		off := rescan(t, spliced(t, on, edits))
		if at, err := SubscriptionOf(off); err != nil || at.Present() {
			t.Errorf("%s: still on %v, %v", off.Frame, at, err)
		}
		want := otherMembers(m.Frame, m.Params, "_meta")
		if got := otherMembers(off.Frame, off.Params, "_meta"); !slices.Equal(got, want) {
			t.Errorf("%s became %s", frame, off.Frame)
		}
	})
}

// FuzzItemToLegacy checks that a tool shown to legacy clients has an output schema of an object,
// and that nothing but this, its name and its execution differs.
func FuzzItemToLegacy(f *testing.F) {
	for _, seed := range []string{
		`{"type":"array"}`, `{"type":"object","$ref":"#"}`, `{ "anyOf":[{"$ref":"#/a"},{"properties":{"enum":{"$ref":"#"}}}] }`, `true`,
		`{"$id":"x","not":{"$ref":"#"}}`, `{"enum":[{"$ref":"#"}],"$ref":"#\/b","$defs":{"a":{"$id":"#b","$dynamicRef":"#"}}}`, `{"type":"array","type":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		raw := []byte(`{"name":"a","outputSchema":` + string(schema) + `,"execution":{"taskSupport":"required"},"z":1}`)
		if !jsonrpc.Valid(schema) {
			return
		}
		it, err := parseItem(Tool, raw)
		if err != nil {
			return
		}
		if _, tasksOnly := it.ToModern(nil); !tasksOnly {
			t.Fatalf("%s is not for tasks only", raw)
		}
		edits, wrapped := it.ToLegacy([]jsonrpc.Edit{it.Rename("ns_a")})
		shown := it.AppendWith(nil, edits...)
		if !json.Valid(shown) {
			t.Fatalf("%s became %s", raw, shown)
		}
		if got := otherMembers(shown, jsonrpc.Span{Hi: len(shown)}, "outputSchema", "execution"); wrapped && !slices.Equal(got, []string{`name="ns_a"`, "z=1"}) {
			t.Errorf("%s became %s", raw, shown)
		}
		if wrapped && (string(lastWins(shown, "outputSchema", "type")) != `"object"` || lastWins(shown, "outputSchema", "properties", "result") == nil) {
			t.Errorf("%s became %s", raw, shown)
		}
	})
}
