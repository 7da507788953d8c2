package inputreq

import (
	"bytes"
	"slices"
	"testing"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// FuzzRound goes one round for a legacy client: what a modern server asks becomes requests, and the
// retry gives back every answer under its key, and the state.
func FuzzRound(f *testing.F) {
	for _, seed := range []string{
		`{"requestState":"s"}`, `{"inputRequests":{"a":{"method":"roots/list"}},"requestState":"\ud800\u0000"}`, `{"inputRequests":{}}`,
		`{"inputRequests":{"":{"method":"elicitation/create","params":{"mode":"url","elicitationId":"x"}},"\"\\":{"method":"elicitation\/create","params":{ }}}}`,
		`{"inputRequests":{"a":{"method":"sampling/createMessage","params":{"_meta":{}}},"\u0061b":{"method":"roots/list","params":{}}}}`, `{"inputRequests":[]}`,
		`{"inputRequests":{"a":{"method":"roots/list"},"A":{"method":"roots/list"}}}`,
	} {
		f.Add([]byte(seed), []byte(`{"name":"n","_meta":{"progressToken":1}}`))
		f.Add([]byte(seed), []byte(`{"inputResponses":{"z":{}},"requestState":7}`))
	}
	claim := mcpwire.NewClaim(nil, nil, "")
	f.Fuzz(func(t *testing.T, result, params []byte) {
		var m, call jsonrpc.Message
		if jsonrpc.Scan([]byte(`{"jsonrpc":"2.0","id":1,"result":`+string(result)+`}`), &m) != nil ||
			jsonrpc.Scan([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+string(params)+`}`), &call) != nil {
			return
		}
		r, err := mcpwire.ResultOf(&m)
		if err != nil {
			return
		}
		in, err := InputOf(&r, &m)
		if err != nil {
			return
		}
		var answers []Answer
		for i := range in.Asks {
			asked := rescan(t, string(in.Asks[i].AppendRequest(nil, []byte("5"), "minted")))
			if asked.Kind != jsonrpc.Request || mcpwire.Method(asked.Text(asked.Method)) != in.Asks[i].Method {
				t.Errorf("%s became %s", result, asked.Frame)
			}
			if asked.Params.Present() && byURL(asked.Bytes(asked.Params)) && in.Asks[i].Method == mcpwire.Elicit {
				if at, err := asked.Param("elicitationId"); err != nil || string(asked.Bytes(at)) != `"minted"` {
					t.Errorf("%s: %v", asked.Frame, err)
				}
			}
			answers = append(answers, Answer{[]byte(in.Asks[i].Key), []byte{'{', '}'}})
		}
		checkRetry(t, &m, &in, &call, answers, claim)
	})
}

func checkRetry(t *testing.T, m *jsonrpc.Message, in *Input, call *jsonrpc.Message, answers []Answer, claim *mcpwire.Claim) {
	t.Helper()
	e, err := envelopeOf(call)
	if err != nil {
		return
	}
	var state []byte
	if in.State.Present() {
		state = m.Bytes(in.State)
	}
	edits, err := AddRetry(nil, call, AppendRetryMembers(nil, answers, state))
	if err != nil {
		return
	}
	again := rescan(t, spliced(t, call, claim.AddTo(edits, call, &e)))
	retry, err := RetryOf(again)
	if err != nil || !retry.Is() || !bytes.Equal(again.Bytes(retry.State.Value), state) {
		t.Fatalf("%s: %v", again.Frame, err)
	}
	given := map[string]bool{}
	for key := range jsonrpc.Members(again.Frame, retry.Responses.Value) {
		given[key] = true
	}
	for _, a := range answers {
		if key := jsonrpc.Unquote([]byte(`"` + string(a.Key) + `"`)); !given[string(key)] {
			t.Errorf("no answer to %q in %s", key, again.Frame)
		}
	}
	if len(given) != len(answers) {
		t.Errorf("%d answers in %s, want %d", len(given), again.Frame, len(answers))
	}
	if e, err := envelopeOf(again); err != nil || !e.Claims() {
		t.Errorf("no claim in %s: %v", again.Frame, err)
	}
}

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
