package trace_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolman/jsonrpc/trace"
	"toolman/jsonrpc/trace/redact"
)

func TestALineSaysWhereItWasRedacted(t *testing.T) {
	deep, many := strings.Repeat(`{"abcdefgh":`, 40), strings.Repeat(`"hunter22",`, 200)
	for _, tt := range []struct {
		name, msg string
		want      []string
	}{
		{"by key and by value", `{"params":{"arguments":{"token":"x","b":["y","is hunter22"]}}}`, []string{"msg.params.arguments.token", "msg.params.arguments.b[1]"}},
		{"a real string that looks like it", `{"a":"[redacted]","b":"hunter22"}`, []string{"msg.b"}},
		{"twice in one value", `["hunter22 hunter22"]`, []string{"msg[0]"}},
		{"the message itself", `"hunter22"`, []string{"msg"}},
		{"after containers", `[{"a":[1,[2]]},{},[],{"token":"x"}]`, []string{"msg[3].token"}},
		{"keys that need quotes", `{"a b":{"":{"io.x/y":{"\u0061":["hunter22"]}}}}`, []string{`msg["a b"][""]["io.x/y"]["\u0061"][0]`}},
		{"in a key", `{"x":{"hunter22":1}}`, []string{`msg.x["[redacted]"]`}},
		{"in JSON in a string", `{"text":"{\"token\":\"x\"}"}`, []string{"msg.text"}},
		{"a number", `{"a":[48213377]}`, []string{"msg.a[0]"}},
		{"a long path ends above", deep + `"hunter22"` + strings.Repeat("}", 40), []string{"msg" + strings.Repeat(".abcdefgh", 28)}},
		{"many", "[" + many + "0]", append(numbered(63), "msg")},
		{"a path with a secret", `{"abc":{"def":["hunter22"]}}`, []string{"msg.[redacted][0]"}},
		{"no JSON", `hunter22 {`, []string{"text"}},
		{"no UTF-8", "hunter22 \xff", []string{"text", "raw"}},
		{"nothing", `{"a":"[redacted]"}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			secrets := redact.NewSecrets("hunter22", "48213377", "abc.def")
			line := writeMsg(t, trace.Options{Secrets: secrets}, tt.msg)
			for rec, err := range trace.Read(strings.NewReader(line)) {
				if err != nil || !slices.Equal(rec.Redacted, tt.want) {
					t.Errorf("got %q (%v), want %q", rec.Redacted, err, tt.want)
				}
			}
		})
	}
}

func numbered(n int) (paths []string) {
	for i := range n {
		paths = append(paths, fmt.Sprintf("msg[%d]", i))
	}
	return paths
}

func TestOtherFieldsOfALineSayThatTheyWereRedacted(t *testing.T) {
	lines := write(t, trace.Options{
		Secrets: redact.NewSecrets("hunter22"),
		Session: trace.Session{Config: "/hunter22/tools.toml", Upstreams: []trace.Server{{Name: "a"}, {Name: "b", Command: "run --key hunter22"}}},
	}, func(w *trace.Writer) {
		w.Frame(&trace.Frame{Peer: "hunter22", Name: "hunter22", ID: []byte(`"hunter22"`), Rewrote: []string{"params.hunter22", "hunter22"}, Msg: []byte(`1`)})
		w.Event(trace.Event{Event: trace.EventStderr, Text: "key is hunter22"})
	})
	want := [][]string{{"config", "upstreams[1].cmd"}, {"peer", "name", "id", "rewrote"}, {"text"}}
	for i, line := range lines {
		for rec, err := range trace.Read(strings.NewReader(line)) {
			if err != nil || !slices.Equal(rec.Redacted, want[i]) {
				t.Errorf("line %d: %q (%v), want %q", i, rec.Redacted, err, want[i])
			}
		}
	}
}

func TestRedactedOfOtherTraces(t *testing.T) {
	for in, want := range map[string][]string{`true`: {""}, `false`: nil, `["a"]`: {"a"}, `null`: nil, `{"a":1}`: nil, `[1]`: nil} {
		for rec, err := range trace.Read(strings.NewReader(`{"t":"frame","redacted":` + in + `}`)) {
			if err != nil || !slices.Equal(rec.Redacted, want) {
				t.Errorf("%s: %q (%v), want %q", in, rec.Redacted, err, want)
			}
		}
	}
}
