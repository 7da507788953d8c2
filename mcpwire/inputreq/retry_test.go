package inputreq

import (
	"testing"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

func TestARetryIsStrippedToTheCallItRepeats(t *testing.T) {
	const claim = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
	for _, tt := range []struct{ name, params, want string }{
		{"answers and a state", `{"name":"x","inputResponses":{"a":{}},"requestState":"s","_meta":{` + claim + `},"y":1.0}`, `{"name":"x","y":1.0}`},
		{"_meta between them", `{"requestState":"s","_meta":{` + claim + `} , "inputResponses":{},"name":"x"}`, `{"name":"x"}`},
		{"_meta that stays", `{"requestState":"s","_meta":{"progressToken":1,` + claim + `},"name":"x","inputResponses":{}}`, `{"_meta":{"progressToken":1},"name":"x"}`},
		{"nothing but a retry", `{"requestState":"s","inputResponses":{},"_meta":{` + claim + `}}`, `{}`},
		{"no retry", `{"name":"x","_meta":{` + claim + `}}`, `{"name":"x"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			frame := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + tt.params + `}`)
			var m jsonrpc.Message
			if err := jsonrpc.Scan(frame, &m); err != nil {
				t.Fatal(err)
			}
			e, err := mcpwire.EnvelopeOf(&m)
			if err != nil {
				t.Fatal(err)
			}
			r, err := RetryOf(&m)
			if err != nil {
				t.Fatal(err)
			}
			got := string(jsonrpc.AppendSplice(nil, frame, r.Strip(nil, &m, &e)...))
			if want := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + tt.want + `}`; got != want {
				t.Errorf("got\n%s, want\n%s", got, want)
			}
		})
	}
}
