package play

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolman/cmd/internal/traces/compare"
	"toolman/cmd/internal/traces/dialog"
	"toolman/cmd/internal/traces/recording"
	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/suggest"
)

// mostCandidates is how many recorded calls are compared with a request to find the closest.
const mostCandidates = 1000

// An index finds the recorded calls of the client.
type index struct {
	rules  *compare.Rules
	calls  []*recording.Call
	byKey  map[string][]*recording.Call
	served map[*recording.Call]bool
	hellos []*recording.Call // handshakes of all sessions of the file
}

func newIndex(s *recording.Session, rules *compare.Rules) *index {
	x := &index{rules: rules, byKey: make(map[string][]*recording.Call), served: make(map[*recording.Call]bool)}
	for _, c := range s.Calls {
		if c.FromClient() {
			x.calls = append(x.calls, c)
			x.byKey[c.Key()] = append(x.byKey[c.Key()], c)
			if isHello(c.Request.Method) {
				x.hellos = append(x.hellos, c)
			}
		}
	}
	x.hellos = append(x.hellos, s.Hellos...)
	return x
}

func isHello(method string) bool {
	return method == string(mcpwire.Initialize) || method == string(mcpwire.Discover)
}

// requestOf returns a request of the client as a call, to compare it with recorded ones.
func requestOf(e *dialog.Event) *recording.Call {
	r := &trace.Record{Kind: trace.Request, Dir: trace.In, Method: e.Method, Name: nameIn(e)}
	return &recording.Call{Request: &recording.Message{Record: r, Params: e.Params}}
}

// nameIn returns what the trace has as the name of a request.
func nameIn(e *dialog.Event) string {
	var m jsonrpc.Message
	frame := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":0,"method":%s,"params":%s}`, jsonrpc.AppendQuoted(nil, e.Method), orEmpty(e.Params))
	if jsonrpc.Scan(frame, &m) != nil {
		return ""
	}
	at, _, err := mcpwire.Target(&m, mcpwire.MethodOf([]byte(e.Method)))
	if err != nil {
		return ""
	}
	return string(m.Text(at))
}

// find returns the recorded call that a request is, and how their input differs, or nil.
func (x *index) find(asked *recording.Call) (found *recording.Call, differ []compare.Difference) {
	method, params := asked.Request.Method, asked.Request.Params
	if isHello(method) {
		return x.hello(asked), nil
	}
	candidates := x.byKey[asked.Key()]
	state := stateOf(params)
	if candidates == nil { // the answers may differ
		var without []*recording.Call
		arguments := recording.Arguments(params, recording.InputResponses)
		for _, c := range x.calls {
			if state != "" && stateOf(c.Request.Params) == state && c.Base() == asked.Base() &&
				recording.Arguments(c.Request.Params, recording.InputResponses) == arguments {
				without = append(without, c)
			}
		}
		candidates = without
	}
	if same := withState(candidates, state); len(same) > 0 {
		candidates = same
	}
	if candidates == nil {
		candidates = x.alike(asked)
	}
	if candidates == nil {
		return nil, nil
	}
	found = candidates[len(candidates)-1]
	for _, c := range candidates {
		if !x.served[c] {
			found = c
			break
		}
	}
	return found, x.rules.Values("params", json.RawMessage(recording.Arguments(found.Request.Params)), json.RawMessage(recording.Arguments(params)))
}

func stateOf(params json.RawMessage) string {
	var p struct {
		RequestState json.RawMessage `json:"requestState"`
	}
	json.Unmarshal(params, &p) // what is not there stays nil
	return string(p.RequestState)
}

// withState returns the calls with this requestState.
func withState(calls []*recording.Call, state string) (same []*recording.Call) {
	for _, c := range calls {
		if stateOf(c.Request.Params) == state {
			same = append(same, c)
		}
	}
	return same
}

// alike returns the calls from which a request differs only by what the rules ignore.
func (x *index) alike(asked *recording.Call) (found []*recording.Call) {
	for _, c := range x.sameName(asked) {
		if len(x.differences(c, asked)) == 0 {
			found = append(found, c)
		}
	}
	return found
}

func (x *index) sameName(asked *recording.Call) (found []*recording.Call) {
	for _, c := range x.calls {
		if c.Base() == asked.Base() && len(found) < mostCandidates {
			found = append(found, c)
		}
	}
	return found
}

func (x *index) differences(c, asked *recording.Call) []compare.Difference {
	return x.rules.Values("params", json.RawMessage(recording.Arguments(c.Request.Params)), json.RawMessage(recording.Arguments(asked.Request.Params)))
}

// hello returns the recorded handshake for the revision that the client asks for, or else any.
func (x *index) hello(asked *recording.Call) *recording.Call {
	var first *recording.Call
	for _, c := range x.hellos {
		switch {
		case c.Request.Method != asked.Request.Method || c.Response == nil || c.Response.Problem() != "" && c.Response.Msg == nil:
		case revision(c.Request.Params) == revision(asked.Request.Params):
			return c
		case first == nil:
			first = c
		}
	}
	return first
}

// revision returns the revision that a request names, as initialize and modern requests do.
func revision(params json.RawMessage) string {
	var p struct{ ProtocolVersion string }
	json.Unmarshal(params, &p) // what is not there stays empty
	return p.ProtocolVersion + string(recording.MetaOf(params)[mcpwire.KeyVersion])
}

// A stranger is a request that the recording does not have.
type stranger struct {
	code   int
	why    string
	differ []compare.Difference
	near   *recording.Call // nil: nothing is like it
}

// closest says what the recording has that is most like a request.
func (x *index) closest(asked *recording.Call) *stranger {
	method, name := asked.Request.Method, asked.Request.Name
	what := sanitize.Line(strings.TrimSpace(method + " " + name))
	s := &stranger{code: jsonrpc.CodeInvalidParams}
	for _, c := range x.sameName(asked) {
		if d := x.differences(c, asked); s.near == nil || len(d) < len(s.differ) {
			s.near, s.differ = c, d
		}
	}
	if s.near != nil {
		d := s.differ[0]
		s.why = fmt.Sprintf("the recording has no %s with these arguments; the closest, in line %d, differs in %s: %s there, %s here",
			what, s.near.Request.Seq, d.Path, brief(d.A), brief(d.B))
		return s
	}
	var names, methods []string
	for _, c := range x.calls {
		methods = append(methods, c.Request.Method)
		if c.Request.Method == method {
			names = append(names, c.Request.Name)
		}
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
	switch near := suggest.Nearest(name, names); {
	case near != "":
		s.near = x.first(method, near)
		s.why = fmt.Sprintf("the recording has no %s; the closest name is %s, in line %d", what, sanitize.Line(near), s.near.Request.Seq)
	case len(names) > 0:
		s.why = fmt.Sprintf("the recording has no %s, only %s", what, sanitize.Line(strings.Join(names[:min(len(names), 10)], ", ")))
	default:
		s.code = jsonrpc.CodeMethodNotFound
		s.why = "the recording has no request " + what
		if near := suggest.Nearest(method, methods); near != "" {
			s.near = x.first(near, "")
			s.why += "; the closest is " + sanitize.Line(near)
		}
	}
	return s
}

func (x *index) first(method, name string) *recording.Call {
	for _, c := range x.calls {
		if c.Request.Method == method && (name == "" || c.Request.Name == name) {
			return c
		}
	}
	return nil
}

// brief shortens a value for a message.
func brief(v json.RawMessage) string {
	const most = 80
	switch text := sanitize.Line(string(v)); {
	case v == nil:
		return "nothing"
	case len(text) > most:
		return strings.ToValidUTF8(text[:most], "") + "…"
	default:
		return text
	}
}

func orEmpty(params json.RawMessage) json.RawMessage {
	if params == nil {
		return json.RawMessage("{}")
	}
	return params
}
