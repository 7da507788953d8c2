package mcpwire

import (
	"slices"
	"testing"
)

func TestEraOf(t *testing.T) {
	for revision, want := range map[string]Era{
		"2024-11-05": Legacy, "2025-03-26": Legacy, "2025-06-18": Legacy, "2025-11-25": Legacy, "2026-07-28": Modern,
		"": Unknown, "1999-01-01": Unknown, "2026-07-28 ": Unknown, "2027-01-01": Unknown, "draft": Unknown,
	} {
		if got := EraOf(revision); got != want {
			t.Errorf("%q: got %s, want %s", revision, got, want)
		}
	}
	if !slices.IsSorted(revisions[:]) {
		t.Errorf("not oldest first: %q", revisions)
	}
}

func TestMutual(t *testing.T) {
	for _, tt := range []struct {
		listed         []string
		legacy, modern string
	}{
		{[]string{"2026-07-28"}, "", "2026-07-28"},
		{[]string{"2024-11-05", "2025-11-25", "2025-06-18", "2026-07-28", "2027-01-01"}, "2025-11-25", "2026-07-28"},
		{[]string{"2025-03-26", "2024-11-05"}, "2025-03-26", ""}, // a server may list legacy revisions only
		{[]string{"", "x"}, "", ""},
		{nil, "", ""},
	} {
		if legacy, modern := Mutual(tt.listed, Legacy), Mutual(tt.listed, Modern); legacy != tt.legacy || modern != tt.modern {
			t.Errorf("%q: got %q and %q, want %q and %q", tt.listed, legacy, modern, tt.legacy, tt.modern)
		}
	}
}

func TestNegotiate(t *testing.T) {
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25", "": "2025-11-25", "2025-11-25 ": "2025-11-25",
	} {
		if got := Negotiate(asked); got != want {
			t.Errorf("%q: got %s, want %s", asked, got, want)
		}
		if got := Supported(asked); got != (asked == want) {
			t.Errorf("%q: supported is %v", asked, got)
		}
	}
}

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
