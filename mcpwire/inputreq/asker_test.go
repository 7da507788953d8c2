package inputreq

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

func TestNameAsker(t *testing.T) {
	const question, answer, failure = `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":`, `{"jsonrpc":"2.0","id":1,"result":`, `{"jsonrpc":"2.0","id":1,"error":`
	for _, tt := range []struct{ name, frame, want string }{
		{"a form", question + `{ "message" : "\u0041 <b>","requestedSchema":{"message":"x"}}}`, question + `{ "message" : "Server s\"1 asks: \u0041 <b>","requestedSchema":{"message":"x"}}}`},
		{"a URL", question + `{"mode":"url","url":"u","elicitationId":"e","m\u0065ssage":""}}`, question + `{"mode":"url","url":"u","elicitationId":"e","m\u0065ssage":"Server s\"1 asks: "}}`},
		{"sampling", `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"message":"m"}}`, ""},
		{"what modern servers ask", answer + `{"inputRequests":{"a":{"params":{"message":"1"},"method":"elicitation\/create"},"b":{"method":"roots/list","params":{"message":"2"}},"c":{"method":"elicitation/create","params":{"message":"3"}}},"resultType":"input\u005frequired"}}`,
			answer + `{"inputRequests":{"a":{"params":{"message":"Server s\"1 asks: 1"},"method":"elicitation\/create"},"b":{"method":"roots/list","params":{"message":"2"}},"c":{"method":"elicitation/create","params":{"message":"Server s\"1 asks: 3"}}},"resultType":"input\u005frequired"}}`},
		{"a result that asks nothing", answer + `{"resultType":"complete","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"1"}}}}}`, ""},
		{"a state alone", answer + `{"resultType":"input_required","requestState":"s"}}`, ""},
		{"a result that is no object", answer + `"input_required"}`, ""},
		{"URLs to visit", failure + `{"code":-32042,"message":"m","data":{"elicitations":[ {"mode":"url","message":"1","url":"u"},{"message":"2"}]}}}`,
			failure + `{"code":-32042,"message":"m","data":{"elicitations":[ {"mode":"url","message":"Server s\"1 asks: 1","url":"u"},{"message":"Server s\"1 asks: 2"}]}}}`},
		{"the same code as another number", failure + `{"message":"m","code":-3.2042e4,"data":{"elicitations":[{"message":"1"}]}}}`, failure + `{"message":"m","code":-3.2042e4,"data":{"elicitations":[{"message":"Server s\"1 asks: 1"}]}}}`},
		{"another error", failure + `{"code":-32041,"message":"m","data":{"elicitations":[{"message":"1"}]}}}`, ""},
		{"an error without URLs", failure + `{"code":-32042,"message":"m","data":1}}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var m jsonrpc.Message
			if err := jsonrpc.Scan([]byte(tt.frame), &m); err != nil {
				t.Fatal(err)
			}
			edits, err := NameAsker(nil, &m, `s"1`)
			want := tt.want
			if want == "" {
				want = tt.frame
			}
			if got := jsonrpc.AppendSplice(nil, m.Frame, edits...); err != nil || string(got) != want {
				t.Errorf("got\n%s %v, want\n%s", got, err, want)
			}
		})
	}
	for name, frame := range map[string]string{
		"no params":           strings.TrimSuffix(question, `,"params":`) + `}`,
		"no message":          question + `{}}`,
		"no text":             question + `{"message":["toolman asks: may it?"]}}`,
		"two messages":        question + `{"message":"1","message":"2"}}`,
		"what looks like one": question + `{"message":"1","Message":"2"}}`,
		"two types":           answer + `{"resultType":"complete","resultType":"input_required"}}`,
		"two methods":         answer + `{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list","method":"elicitation/create"}}}}`,
		"no modern message":   answer + `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}}}}`,
		"two codes":           failure + `{"code":1,"code":-32042,"message":"m"}}`,
		"a URL and no object": failure + `{"code":-32042,"message":"m","data":{"elicitations":["toolman asks: may it?"]}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			var m jsonrpc.Message
			if err := jsonrpc.Scan([]byte(frame), &m); err != nil {
				t.Fatal(err)
			}
			if edits, err := NameAsker(nil, &m, "s"); err == nil {
				t.Errorf("got %s, want an error", jsonrpc.AppendSplice(nil, m.Frame, edits...))
			}
		})
	}
}

// FuzzNameAsker checks that every message that a client can read in what a server asks begins with
// the server's name, however the frame is written.
func FuzzNameAsker(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m"}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"m"}}}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"","data":{"elicitations":[{"message":"m"},{"message":""}]}}}`))
	f.Fuzz(func(t *testing.T, frame []byte) {
		var m jsonrpc.Message
		if jsonrpc.Scan(frame, &m) != nil {
			return
		}
		edits, err := NameAsker(nil, &m, "s")
		if err != nil {
			return
		}
		named := jsonrpc.AppendSplice(nil, bytes.Clone(m.Frame), edits...)
		type elicitation struct{ Message any }
		var got struct {
			Method string
			Params elicitation
			Result struct {
				ResultType    string
				InputRequests map[string]struct {
					Method string
					Params elicitation
				}
			}
			Error struct {
				Code float64
				Data struct{ Elicitations []elicitation }
			}
		}
		if err := json.Unmarshal(named, &got); err != nil {
			return // members of other types: what is not read is not shown
		}
		var asked []elicitation
		if m.Kind == jsonrpc.Request && got.Method == string(mcpwire.Elicit) {
			asked = append(asked, got.Params)
		}
		if m.Kind == jsonrpc.Response && got.Result.ResultType == "input_required" {
			for _, request := range got.Result.InputRequests {
				if request.Method == string(mcpwire.Elicit) {
					asked = append(asked, request.Params)
				}
			}
		}
		if m.Kind == jsonrpc.Response && got.Error.Code == mcpwire.CodeURLElicitation {
			asked = append(asked, got.Error.Data.Elicitations...)
		}
		for _, one := range asked {
			if text, is := one.Message.(string); !is || !strings.HasPrefix(text, "Server s asks: ") {
				t.Errorf("%q: the user reads %v", frame, one.Message)
			}
		}
	})
}
