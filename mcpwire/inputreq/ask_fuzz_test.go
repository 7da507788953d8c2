package inputreq

import (
	"slices"
	"testing"

	"toolman/jsonrpc"
)

// FuzzAsk checks that an ask says what the request said, but for what belongs to the request.
func FuzzAsk(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"elicitationId":"e"}`, `{ "mode":"url" , "elicitationId" : 1 , "task":{} , "_meta":{"progressToken":1} }`,
		`{"_meta":{"a":1,"progressToken":2,"io.modelcontextprotocol\/related-task":{}},"t\u0061sk":1,"a":1,"a":2}`, `{"_meta":null,"x":[1,{"task":2}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, params []byte) {
		var m jsonrpc.Message
		if jsonrpc.Scan([]byte(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":`+string(params)+`}`), &m) != nil {
			return
		}
		a, err := AskOf(&m, "k")
		if err != nil || a.Params == nil {
			return
		}
		asked := rescan(t, string(AppendInputRequired(nil, []byte("1"), []Ask{a}, "s")))
		r := resultOf(t, asked)
		in, err := InputOf(&r, asked)
		if err != nil { // what decides how it is asked can be read two ways
			return
		}
		want := otherMembers(m.Frame, m.Params, "elicitationId", "task", "_meta")
		if got := otherMembers(in.Asks[0].Params, jsonrpc.Span{Hi: len(in.Asks[0].Params)}, "_meta"); !slices.Equal(got, want) {
			t.Errorf("%s became %s", params, a.Params)
		}
		for _, key := range requestMetaKeys {
			if left := lastWins(a.Params, "_meta", key); left != nil {
				t.Errorf("%s is left in %s", key, a.Params)
			}
		}
	})
}
