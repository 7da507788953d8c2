package mcpwire

import (
	"testing"

	"toolman/jsonrpc"
)

func TestAsksForTask(t *testing.T) {
	for params, want := range map[string]bool{
		`{"name":"a","task":{}}`: true, `{"t\u0061sk":{"ttl":1}}`: true,
		`{"task":null}`: false, `{"task":true}`: false, `{"task":{},"Task":{}}`: false, `{"arguments":{"task":{}}}`: false, `[]`: false, ``: false,
	} {
		if got := AsksForTask(request(t, ToolsCall, params)); got != want {
			t.Errorf("%s: got %v", params, got)
		}
	}
}

func TestCreatedTask(t *testing.T) {
	for result, want := range map[string]string{
		`{"task":{"taskId":"a\u0062","status":"working"}}`: "ab",
		`{"task":{"status":"working"}}`:                    "",
		`{"task":{"taskId":1}}`:                            "",
		`{"task":"a"}`:                                     "",
		`{"taskId":"a"}`:                                   "",
		`{"task":{"taskId":"a"},"task":{"taskId":"b"}}`:    "",
		`{"task":{"taskId":"a","TaskID":"b"}}`:             "",
		`[]`:                                               "",
	} {
		var m jsonrpc.Message
		if err := jsonrpc.Scan([]byte(`{"jsonrpc":"2.0","id":1,"result":`+result+`}`), &m); err != nil {
			t.Fatal(err)
		}
		if got := string(CreatedTask(&m)); got != want {
			t.Errorf("%s: got %q, want %q", result, got, want)
		}
	}
	var m jsonrpc.Message
	if err := jsonrpc.Scan([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","task":{"taskId":"a"}}}`), &m); err != nil {
		t.Fatal(err)
	}
	if got := CreatedTask(&m); got != nil {
		t.Errorf("an error made the task %s", got)
	}
}

func TestTaskID(t *testing.T) {
	for params, want := range map[string]string{
		`{"taskId":"a"}`: `"a"`, `{"task\u0049d":"a"}`: `"a"`, `{"taskId":1}`: "", `{"task":{"taskId":"a"}}`: "", ``: "",
	} {
		m := request(t, TasksGet, params)
		at, err := TaskID(m)
		checkSpan(t, m, at, err, want)
	}
	at, err := TaskID(request(t, TasksGet, `{"taskId":"a","taskid":"b"}`))
	checkForm(t, at, err)
}

func TestHideTasks(t *testing.T) {
	for capabilities, want := range map[string]string{
		`{"extensions":{"io.modelcontextprotocol/tasks":{}},"roots":{}}`:             `{"extensions":{},"roots":{}}`,
		`{"extensions":{"a/b":{}, "io.modelcontextprotocol\/tasks":{"x":1},"c":{}}}`: `{"extensions":{"a/b":{}, "c":{}}}`,
		`{"extensions":{"a/b":{}}}`:            `{"extensions":{"a/b":{}}}`,
		`{"io.modelcontextprotocol/tasks":{}}`: `{"io.modelcontextprotocol/tasks":{}}`,
		`{}`:                                   `{}`,
	} {
		params := func(capabilities string) string {
			return `{"_meta":{` + versionMember + `,"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}}`
		}
		m := request(t, ToolsCall, params(capabilities))
		e := envelope(t, m)
		edits, err := HideTasks(nil, m, &e)
		if got, want := spliced(t, m, edits), string(request(t, ToolsCall, params(want)).Frame); err != nil || got != want {
			t.Errorf("%v, got %s, want %s", err, got, want)
		}
	}
	m := request(t, ToolsCall, `{"_meta":{`+versionMember+`,"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{},"io.modelcontextprotocol/Tasks":{}}}}}`)
	e := envelope(t, m)
	if edits, err := HideTasks(nil, m, &e); err == nil {
		t.Errorf("a look-alike was accepted: %v", edits)
	}
}
