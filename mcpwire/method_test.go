package mcpwire

import "testing"

func TestMethodOf(t *testing.T) {
	for _, name := range []string{"tools/call", "logging/setLevel", "no/such/method", "", "Tools/call"} {
		if got := MethodOf([]byte(name)); got != Method(name) {
			t.Errorf("got %q, want %q", got, name)
		}
	}
	for _, m := range requests {
		name := []byte(m)
		if n := testing.AllocsPerRun(100, func() { MethodOf(name) }); n != 0 {
			t.Errorf("%s: %v allocations", m, n)
		}
	}
}

func TestRequiredCapability(t *testing.T) {
	for request, want := range map[Method]string{
		CreateMessage: "sampling", Elicit: "elicitation", ListRoots: "roots",
		TasksGet: "tasks", TasksResult: "tasks", TasksCancel: "tasks", "tasks/list": "", Ping: "", "vendor/ask": "", "": "",
	} {
		if got := RequiredCapability(request); got != want {
			t.Errorf("%q: got %q, want %q", request, got, want)
		}
	}
}

func TestKnownMethodsOfEachEra(t *testing.T) {
	for m, want := range map[Method][2]bool{ // legacy, modern
		ToolsCall: {true, true}, ToolsList: {true, true}, PromptsGet: {true, true}, PromptsList: {true, true}, ResourcesRead: {true, true},
		ResourcesList: {true, true}, TemplatesList: {true, true}, Complete: {true, true},
		Discover: {false, true}, Listen: {false, true},
		Initialize: {true, false}, Ping: {true, false}, SetLevel: {true, false}, Subscribe: {true, false}, Unsubscribe: {true, false},
		TasksGet: {true, false}, TasksResult: {true, false}, TasksCancel: {true, false},
		"tasks/list": {false, false}, Elicit: {false, false}, Cancelled: {false, false}, "": {false, false}, "tools/Call": {false, false},
	} {
		if got := [2]bool{Known(m), KnownModern(m)}; got != want {
			t.Errorf("%q: got %v, want %v", m, got, want)
		}
	}
}
