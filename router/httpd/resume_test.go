package httpd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolman/fixtures/fakemcp"
	"toolman/router/httpd/presence"
)

// A keeper is one that keeps nothing.
type keeper struct{}

func (keeper) Load(context.Context, string, *presence.Caller) ([]byte, error) { return nil, nil }
func (keeper) Began(string, *presence.Caller, presence.Kept)                  {}
func (keeper) Save(string, *presence.Caller, []byte) error                    { return nil }
func (keeper) Ended(string, *presence.Caller, presence.Kept, error)           {}

// lines returns the next lines of a stream up to an empty one.
func (r *reply) lines() (all string) {
	for {
		line, err := r.events.ReadString('\n')
		if err != nil || line == "\n" {
			return all
		}
		all += line
	}
}

// begin calls a tool that tells of its progress and waits for a file, and returns the ID of the
// first event. Then the client disconnects.
func (c *legacyClient) begin(id, tool string) (first string) {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	r := c.ask(request{ctx: ctx, body: legacyCall(id, "fs_"+tool, "{}", `,"_meta":{"progressToken":1}`)})
	first, found := strings.CutPrefix(r.lines(), "id: ")
	first, data, _ := strings.Cut(first, "\n")
	if !found || data != "data: \n" {
		c.t.Fatalf("the first event is %q with %q", first, data)
	}
	if got := r.lines(); !strings.HasPrefix(got, "event: message\ndata: ") {
		c.t.Fatalf("the second event is %q", got)
	}
	return first
}

func TestAResponseThatWasBrokenOffIsResumed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "go")
	f := newFront(t, echoing(fakemcp.Legacy, map[string][]fakemcp.Step{
		"tools/call slow": {fakemcp.Progress(1), fakemcp.AwaitFile(file), fakemcp.Progress(2), fakemcp.Answer()},
	}), Options{Options: presence.Options{Keeper: keeper{}}})
	c := f.initialize("2025-11-25", "{}")
	first := c.begin(`"a\nb"`, "slow")
	await(t, "the stream is abandoned", func() bool { return f.e.Calls() == 0 })
	r := c.ask(request{method: "GET", header: map[string]string{"Last-Event-ID": first}})
	if got := r.lines(); got != "id: "+first+"\ndata: \n" {
		t.Errorf("the stream begins with %q", got)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.lines(); !strings.Contains(got, `"progress":2`) || strings.Contains(got, "id: ") {
		t.Errorf("the stream goes on with %q", got)
	}
	if got := r.lines(); !strings.HasPrefix(got, "id: end\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"a\\nb\",\"result\":") {
		t.Errorf("the answer is %q", got)
	}
	if rest := r.text(); rest != "" {
		t.Errorf("after the answer comes %q", rest)
	}
	if again := c.ask(request{method: "GET", header: map[string]string{"Last-Event-ID": "end"}}); again.StatusCode != 405 {
		t.Errorf("resuming what has ended: %d %s", again.StatusCode, again.text())
	}
}

func TestWhoResumesAResponseThatIsLostGetsAnError(t *testing.T) {
	f := newFront(t, echoing(fakemcp.Legacy, map[string][]fakemcp.Step{
		"tools/call asks": {fakemcp.Ask(`7`, "elicitation/create", `{"message":"who","requestedSchema":{"type":"object","properties":{}}}`), fakemcp.Reply(`{"content":[]}`)},
	}), Options{Options: presence.Options{Keeper: keeper{}}})
	c := f.initialize("2025-11-25", `{"elicitation":{}}`)
	asked := c.begin(`5`, "asks") // its question may be lost
	for _, id := range []string{asked, resumeID([]byte(`5`)), resumeID([]byte(`"never made"`)), resumeID([]byte("6\n"))} {
		r := c.ask(request{method: "GET", header: map[string]string{"Last-Event-ID": id}})
		if got := r.text(); r.StatusCode != 200 || !strings.HasPrefix(got, `id: end`+"\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":") ||
			!strings.Contains(got, "it may have been carried out") || strings.Count(got, "\n") != 4 {
			t.Errorf("resuming %s: %d %q", id, r.StatusCode, got)
		}
	}
	modern := request{method: "GET", header: map[string]string{"MCP-Protocol-Version": "2026-07-28", "Last-Event-ID": asked}}
	if r := f.do(modern); r.StatusCode != 200 || !strings.HasPrefix(r.text(), "id: end\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":5,\"error\":") {
		t.Errorf("resuming %s in the modern era: %d", asked, r.StatusCode)
	}
	for _, id := range []string{"request.!", resumeID([]byte(`5,"result":{}`))} {
		if r := c.ask(request{method: "GET", header: map[string]string{"Last-Event-ID": id}}); r.StatusCode != 405 {
			t.Errorf("resuming %s: %d %q", id, r.StatusCode, r.text())
		}
	}
}

func TestResponsesOfTheModernEraCanBeAskedFor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "go")
	f := newFront(t, echoing(fakemcp.Modern, map[string][]fakemcp.Step{"tools/call slow": {fakemcp.Progress(1), fakemcp.AwaitFile(file), fakemcp.Answer()}}),
		Options{Options: presence.Options{Keeper: keeper{}}})
	var open []*reply
	for range 2 { // clients that share a credential number their requests alike
		r := f.do(toolCall(`7`, "fs_slow", "{}", `,"progressToken":1`))
		if got := r.lines(); got != "id: "+resumeID([]byte(`7`))+"\ndata: \n" {
			t.Errorf("the response begins with %q", got)
		}
		open = append(open, r)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, r := range open {
		if rest := r.text(); !strings.Contains(rest, "id: end\n") || strings.Count(rest, "id: ") != 1 || !strings.Contains(rest, `"id":7,"result"`) {
			t.Errorf("the response goes on with %q", rest)
		}
	}
}

func TestResponsesCannotBeResumedWithoutAKeeperOrInOldRevisions(t *testing.T) {
	on := map[string][]fakemcp.Step{"tools/call slow": {fakemcp.Progress(1), fakemcp.Answer()}}
	for revision, o := range map[string]Options{"2025-11-25": {}, "2025-06-18": {Options: presence.Options{Keeper: keeper{}}}} {
		f := newFront(t, echoing(fakemcp.Legacy, on), o)
		c := f.initialize(revision, "{}")
		r := c.ask(request{body: legacyCall("1", "fs_slow", "{}", `,"_meta":{"progressToken":1}`), header: map[string]string{"MCP-Protocol-Version": revision}})
		if got := r.text(); strings.Contains(got, "id: ") || strings.Count(got, "event: ") != 2 {
			t.Errorf("%s: the response is %q", revision, got)
		}
	}
}

func TestACallThatLosesItsSessionMayHaveBeenCarriedOut(t *testing.T) {
	f := newFront(t, echoing(fakemcp.Legacy, map[string][]fakemcp.Step{"tools/call slow": {fakemcp.AwaitFile(filepath.Join(t.TempDir(), "go")), fakemcp.Answer()}}),
		Options{Options: presence.Options{Keeper: keeper{}}})
	c := f.initialize("2025-11-25", "{}")
	go func() {
		await(t, "the call is under way", func() bool { return f.e.Calls() == 1 })
		for _, s := range f.e.sessions.All() {
			s.End(presence.ErrMoved)
		}
	}()
	r := c.ask(request{body: legacyCall("1", "fs_slow", "{}", "")})
	if got := r.text(); r.StatusCode != 200 || !strings.Contains(got, "may have been carried out") || !strings.Contains(got, `"id":1`) {
		t.Errorf("%d %s", r.StatusCode, got)
	}
}
