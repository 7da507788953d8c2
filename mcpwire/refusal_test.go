package mcpwire

import (
	"encoding/json"
	"strings"
	"testing"
)

const hostile = "a \"quoted\" \\ text,\n\x1b[31m with \u2028 and \x00"

// unquote reads a JSON string.
func unquote(t *testing.T, quoted json.RawMessage) (text string) {
	t.Helper()
	if err := json.Unmarshal(quoted, &text); err != nil {
		t.Fatalf("%s: %v", quoted, err)
	}
	return text
}

// members reads an object, and fails unless it has exactly the keys.
func members(t *testing.T, object []byte, keys ...string) map[string]json.RawMessage {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal(object, &all); err != nil {
		t.Fatalf("%s: %v", object, err)
	}
	for _, key := range keys {
		if all[key] == nil {
			t.Fatalf("no %s in %s", key, object)
		}
	}
	if len(all) != len(keys) {
		t.Fatalf("%d members in %s, want %v", len(all), object, keys)
	}
	return all
}

// content reads the one text of a tool result.
func content(t *testing.T, list json.RawMessage) []byte {
	t.Helper()
	var texts []json.RawMessage
	if err := json.Unmarshal(list, &texts); err != nil || len(texts) != 1 {
		t.Fatalf("%s: %v", list, err)
	}
	text := members(t, texts[0], "type", "text")
	if string(text["type"]) != `"text"` {
		t.Errorf("type %s", text["type"])
	}
	return []byte(unquote(t, text["text"]))
}

func checkOutcome(t *testing.T, outcome []byte, success bool, text string, more ...string) {
	t.Helper()
	all := members(t, outcome, append([]string{"success", "result", "error"}, more...)...)
	flag, said, other := "false", "error", "result"
	if success {
		flag, said, other = "true", "result", "error"
	}
	if string(all["success"]) != flag || string(all[other]) != "null" || unquote(t, all[said]) != text {
		t.Errorf("got %s", outcome)
	}
}

func TestAppendFailureOfAToolCallIsAToolResult(t *testing.T) {
	frame := AppendFailure(Legacy, []byte("x"), []byte(`"id\u0031"`), ToolsCall, -32602, hostile)
	if want := `x{"jsonrpc":"2.0","id":"id\u0031","result":`; !strings.HasPrefix(string(frame), want) {
		t.Fatalf("got %s, want it to start with %s", frame, want)
	}
	result := members(t, members(t, frame[1:], "jsonrpc", "id", "result")["result"], "content", "structuredContent", "isError")
	if string(result["isError"]) != "true" {
		t.Errorf("isError is %s", result["isError"])
	}
	checkOutcome(t, result["structuredContent"], false, hostile)
	checkOutcome(t, content(t, result["content"]), false, hostile)
}

func TestAppendFailureOfOtherMethodsIsAnError(t *testing.T) {
	for _, method := range []Method{ResourcesRead, PromptsGet, ToolsList, Initialize, ""} {
		frame := AppendFailure(Legacy, nil, []byte(`-0.5`), method, -32603, hostile)
		all := members(t, frame, "jsonrpc", "id", "error")
		if string(all["id"]) != "-0.5" || string(all["jsonrpc"]) != `"2.0"` {
			t.Errorf("%s: got %s", method, frame)
		}
		e := members(t, all["error"], "code", "message", "data")
		if string(e["code"]) != "-32603" || unquote(t, e["message"]) != hostile {
			t.Errorf("%s: got %s", method, frame)
		}
		checkOutcome(t, e["data"], false, hostile)
	}
	if got, want := string(AppendFailure(Legacy, nil, nil, "", -32700, "no")),
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no","data":{"success":false,"result":null,"error":"no"}}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAppendToolSuccess(t *testing.T) {
	got := AppendToolSuccess(Legacy, []byte("x"), hostile, nil, true)
	result := members(t, got[1:], "content", "structuredContent")
	checkOutcome(t, result["structuredContent"], true, hostile)
	checkOutcome(t, content(t, result["content"]), true, hostile)

	tools := [][]byte{[]byte(`{"name":"a","x":1.0}`), []byte(`{ "name":"b" }`)}
	result = members(t, AppendToolSuccess(Legacy, nil, "on", tools, false), "content", "structuredContent")
	checkOutcome(t, content(t, result["content"]), true, "on")
	checkOutcome(t, result["structuredContent"], true, "on", "tools")
	if got, want := string(members(t, result["structuredContent"], "success", "result", "error", "tools")["tools"]), `[{"name":"a","x":1.0},{ "name":"b" }]`; got != want {
		t.Errorf("tools %s, want %s", got, want)
	}
}

// Some clients show a model the texts of a result, and nothing else of it.
func TestDefinitionsAreReadAloud(t *testing.T) {
	got := string(AppendToolSuccess(Legacy, nil, "on", [][]byte{[]byte(`{"name":"a"}`), []byte(`{"name":"b"}`)}, true))
	if want := `},{"type":"text","text":"{\"name\":\"a\"},{\"name\":\"b\"}"}],"structuredContent":{`; !strings.Contains(got, want) {
		t.Errorf("no %s in %s", want, got)
	}
}

func TestOutcomesForModernClientsAreComplete(t *testing.T) {
	const complete = `"resultType":"complete",`
	for name, of := range map[string]func(Era) string{
		"success": func(e Era) string { return string(AppendToolSuccess(e, nil, "done", [][]byte{[]byte(`{}`)}, false)) },
		"failure": func(e Era) string { return string(AppendFailure(e, nil, []byte("1"), ToolsCall, -32602, "no")) },
		"error":   func(e Era) string { return string(AppendFailure(e, nil, []byte("1"), PromptsGet, -32602, "no")) },
	} {
		legacy, modern := of(Legacy), of(Modern)
		if name == "error" && modern != legacy {
			t.Errorf("%s: %s differs from %s", name, modern, legacy)
		}
		if strings.Contains(legacy, complete) || strings.Replace(modern, complete, "", 1) != legacy || name != "error" && modern == legacy {
			t.Errorf("%s: %s and %s", name, legacy, modern)
		}
	}
}
