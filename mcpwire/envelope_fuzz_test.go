package mcpwire

import (
	"bytes"
	"encoding/json"
	"testing"

	"toolman/jsonrpc"
)

// FuzzEnvelope checks that what was stripped is gone for every reader, that what was added is there
// once, and that nothing else changes.
func FuzzEnvelope(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `[]`, `{}`, `{"_meta":null}`, `{"_meta":{}}`, `{ "_meta" : { ` + bareClaim + ` } }`, `{"a":1,"_meta":{"progressToken":1,` + bareClaim + `,"b":2}}`,
		`{"_meta":{"io.modelcontextprotocol\/logLevel":"debug",` + bareClaim + `},"_Meta":1}`, `{"_met\u0061":{` + bareClaim + `},"":[{}]}`,
		`{"_meta":{"io.modelcontextprotocol/clientInfo":{}, "io.modelcontextprotocol/protocolVersion":"\u0032026-07-28"}}`,
	} {
		f.Add([]byte(seed))
	}
	claim := NewClaim([]byte(`{"roots":{}}`), []byte(`{"name":"a","version":"1"}`), "info")
	f.Fuzz(func(t *testing.T, params []byte) {
		frame := `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`
		if len(params) > 0 {
			frame = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + string(params) + `}`
		}
		var m jsonrpc.Message
		if jsonrpc.Scan([]byte(frame), &m) != nil {
			return
		}
		e, err := envelopeOf(&m)
		if _, refused := err.(*Refusal); err != nil {
			if !refused {
				t.Errorf("%T", err)
			}
			return
		}
		before := decodedMeta(t, frame)
		after := decodedMeta(t, spliced(t, &m, StripEnvelope(nil, &m, &e)))
		for _, key := range envelopeKeys[:4] {
			if after[key] != nil {
				t.Errorf("%s is still there after %s", key, frame)
			}
			delete(before, key)
		}
		checkSame(t, before, after)
		if string(m.Bytes(m.Params)) != "null" && m.Params.Present() && !m.IsObject(m.Params) {
			return
		}
		added := decodedMeta(t, spliced(t, &m, claim.AddTo(nil, &m, &e)))
		if string(added[KeyVersion]) != `"2026-07-28"` || string(added[KeyLogLevel]) != `"info"` || string(added[KeyCapabilities]) != `{"roots":{}}` {
			t.Errorf("%s got %s", frame, added)
		}
		for _, key := range envelopeKeys[:4] {
			delete(added, key)
		}
		checkSame(t, before, added)
	})
}

// decodedMeta reads the members of params, and of _meta in its place.
func decodedMeta(t *testing.T, frame string) map[string]json.RawMessage {
	t.Helper()
	all, meta := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	json.Unmarshal(lastWins(json.RawMessage(frame), "params"), &all)
	json.Unmarshal(all["_meta"], &meta)
	delete(all, "_meta")
	for key, value := range all {
		meta["params "+key] = value
	}
	return meta
}

func checkSame(t *testing.T, want, got map[string]json.RawMessage) {
	t.Helper()
	for key := range want {
		if !bytes.Equal(want[key], got[key]) {
			t.Errorf("%s was %s and is %s", key, want[key], got[key])
		}
	}
	if len(got) != len(want) {
		t.Errorf("was %s, is %s", want, got)
	}
}
