package printer_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/calls"
	"toolman/cmd/internal/traces/printer"
)

func TestFilters(t *testing.T) {
	for _, tt := range []struct {
		filters string
		want    string // calls by number, others by their word
	}{
		{"tool:gh_create_issue", "c41"},
		{"tool:create_issue", "c41"},
		{"tool:GH_*", "c41 c43 c44 c46 c47"},
		{"tool:gh_*e*o", "c43"},
		{"tool:*", "c41 c43 c44 c46 c47"},
		{"peer:gh", "spawn junk c1 notifications/progress c41 stderr c44 c45 notifications/cancelled c46 late"},
		{"peer:toolman", "c1"},
		{"peer:claude !peer:gh", "c42 c43 notifications/cancelled invalid c47"},
		{"method:tools/*", "c42 c41 c43 c46 c47"},
		{"method:initialize", "c1"},
		{"call:c44", "c44"},
		{"call:44", "c44"},
		{"status:ok", "c1 c41 c45"},
		{"status:error", "c43 c44 invalid"},
		{"status:tool_error", "c43"},
		{"status:-32602", "c44"},
		{"status:pending", "c47"},
		{"status:cancelled", "c46"},
		{"status:late", "late"},
		{"status:local", "c42"},
		{"dur:>400ms", "c41 c45 c46"},
		{"dur:>=2.00002s", "c45"},
		{"dur:>2.00002s", ""},
		{"dur:<100µs", "c43"},
		{"dur:<=100us", "c42 c43"},
		{"done", "c41"},
		{"ÜNÏCODE", "c41"},
		{"text:no such prompt", "c44"},
		{"rate", "stderr"},
		{"progress", "notifications/progress c41"},
		{"!method:* !peer:gh", "invalid drop"},
		{"tool:gh -status:error !dur:>1s", "c41 c47"},
		{"demo://x", ""},
	} {
		t.Run(tt.filters, func(t *testing.T) {
			filters := strings.Fields(tt.filters)
			if strings.HasPrefix(tt.filters, "text:") {
				filters = []string{tt.filters}
			}
			if got := chosen(t, filters); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// chosen says what of the sample passes the filters.
func chosen(t *testing.T, filters []string) string {
	t.Helper()
	out := run(t, printer.Options{File: "testdata/calls.jsonl", JSON: true, Filters: filters})
	var words []string
	for line := range strings.Lines(out) {
		var r struct{ T, Call, Kind, Method, Event, Status string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		switch {
		case r.T == "session":
		case r.T == "call":
			words = append(words, r.Call)
		case r.Kind == "notification":
			words = append(words, r.Method)
		case r.Kind == "response":
			words = append(words, r.Status)
		default:
			words = append(words, r.Event+strings.TrimSuffix(r.Kind, "frame"))
		}
	}
	return strings.Join(words, " ")
}

func TestFramesAreFilteredOneByOne(t *testing.T) {
	out := run(t, printer.Options{File: "testdata/calls.jsonl", Frames: true, Filters: []string{"call:c41", "peer:client"}})
	if n := strings.Count(out, " client "); n != 2 || strings.Contains(out, " gh     ") {
		t.Errorf("%d frames:\n%s", n, out)
	}
}

func TestBadFiltersSayTheGrammar(t *testing.T) {
	for _, filter := range []string{"status:bad", "dur:50ms", "dur:>50", "dur:>", "dur:=1s", "colour:red", "tool:", "!", "", "dur:>1s:"} {
		_, err := calls.ParseFilter([]string{"fine", filter})
		if cli.Code(err) != cli.ExitUsage || !strings.Contains(cli.Hint(err), "--help") || !strings.Contains(err.Error(), `"`+filter+`"`) {
			t.Errorf("%q: %v", filter, err)
		}
	}
}

func TestMissingFileSaysWhatToDo(t *testing.T) {
	err := printer.Run(t.Context(), printer.Options{File: "testdata/none.jsonl"}, nil, nil)
	if cli.Code(err) != cli.ExitFailed || !errors.Is(err, os.ErrNotExist) || !strings.Contains(cli.Hint(err), "--trace testdata/none.jsonl") {
		t.Errorf("%v", err)
	}
}

func TestWhatIsNoTraceIsAnError(t *testing.T) {
	err := printer.Run(t.Context(), printer.Options{File: "filter_test.go"}, new(strings.Builder), new(strings.Builder))
	if cli.Hint(err) == "" || cli.Code(err) != cli.ExitFailed {
		t.Errorf("%v", err)
	}
}
