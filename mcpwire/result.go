package mcpwire

import (
	"errors"
	"slices"

	"toolman/jsonrpc"
)

// A ResultType says what a result is.
type ResultType uint8

// The types of results (2026-07-28, Results).
const (
	ResultComplete ResultType = iota
	ResultInputRequired
	ResultTask  // of the extension io.modelcontextprotocol/tasks
	ResultOther // one that toolman does not know
)

var resultKeys = [...]string{"resultType", "ttlMs", "cacheScope", "_meta", "structuredContent", "inputRequests", "requestState"}

// A Result holds the members of a result that differ between the eras, as places in the message
// that it was read from.
type Result struct {
	Type, TTL, Scope, Meta, Structured, Requests, State jsonrpc.Member
}

var errNoObject = errors.New("the result is not an object")

// ResultOf reads the result of a response, in one walk over it.
func ResultOf(m *jsonrpc.Message) (Result, error) {
	if !m.IsObject(m.Result) {
		return Result{}, errNoObject
	}
	var found [len(resultKeys)]jsonrpc.Member
	if err := m.Find(m.Result, resultKeys[:], found[:]); err != nil {
		return Result{}, err
	}
	return Result{found[0], found[1], found[2], found[3], found[4], found[5], found[6]}, nil
}

// ResultType returns the type of a modern server's result. A result without a type is complete,
// like those of older servers.
func (r *Result) ResultType(m *jsonrpc.Message) ResultType {
	if !r.Type.Present() {
		return ResultComplete
	}
	switch string(m.Text(r.Type.Value)) {
	case "complete":
		return ResultComplete
	case "input_required":
		return ResultInputRequired
	case "task":
		return ResultTask
	}
	return ResultOther
}

// cacheable reports whether the results of a method say how long and for whom they may be cached
// (2026-07-28, Caching).
func cacheable(method Method) bool {
	return slices.Contains([]Method{Discover, ToolsList, PromptsList, ResourcesList, TemplatesList, ResourcesRead}, method)
}

// The bytes that edits insert into results. They are never changed.
var (
	completeMember = []byte(`"resultType":"complete",`)
	completeValue  = completeMember[len(`"resultType":`) : len(completeMember)-1]
	staleMember    = []byte(`"ttlMs":0,`)
	staleValue     = staleMember[len(`"ttlMs":`) : len(staleMember)-1]
	privateMember  = []byte(`"cacheScope":"private",`)
	privateValue   = privateMember[len(`"cacheScope":`) : len(privateMember)-1]
	wrapOpen       = []byte(`{"result":`)
	wrapClose      = []byte(`}`)
)

// ToModern appends edits that turn a legacy server's result of method into one for a modern client.
// The result is complete, and may not be cached unless it says so.
func (r *Result) ToModern(edits []jsonrpc.Edit, m *jsonrpc.Message, method Method) []jsonrpc.Edit {
	if cacheable(method) {
		edits = ensure(edits, m, r.Scope, isScope(m, r.Scope.Value), privateMember, privateValue)
		edits = ensure(edits, m, r.TTL, isTTL(m, r.TTL.Value), staleMember, staleValue)
	}
	return ensure(edits, m, r.Type, string(m.Text(r.Type.Value)) == "complete", completeMember, completeValue)
}

// ensure appends an edit that inserts a member into the result, or replaces its value unless that
// is valid.
func ensure(edits []jsonrpc.Edit, m *jsonrpc.Message, had jsonrpc.Member, valid bool, member, value []byte) []jsonrpc.Edit {
	switch {
	case valid:
		return edits
	case had.Present():
		return append(edits, jsonrpc.Edit{Span: had.Value, New: value})
	}
	return jsonrpc.AppendInsertion(edits, m.Frame, m.Result, member)
}

func isScope(m *jsonrpc.Message, at jsonrpc.Span) bool {
	scope := string(m.Text(at))
	return scope == "public" || scope == "private"
}

// isTTL reports whether the value is a number of milliseconds in digits alone.
func isTTL(m *jsonrpc.Message, at jsonrpc.Span) bool {
	for _, c := range m.Bytes(at) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return at.Present()
}

// ToLegacy appends edits that turn a modern server's complete result of method into one for a
// legacy client. wrapped says that the output schema of the tool was wrapped (Item.ToLegacy).
// Structured content that is not an object is always wrapped, because legacy clients accept only
// objects (2025-11-25, Tools).
func (r *Result) ToLegacy(edits []jsonrpc.Edit, m *jsonrpc.Message, method Method, wrapped bool) ([]jsonrpc.Edit, error) {
	gone := [4]jsonrpc.Member{r.Type}
	if cacheable(method) {
		gone[1], gone[2] = r.TTL, r.Scope
	}
	info, err := m.GetMember(r.Meta.Value, KeyServerInfo)
	if err != nil {
		return edits, err
	}
	edits, empty := RemoveFrom(edits, m.Frame, r.Meta.Value, info)
	if empty {
		gone[3] = r.Meta
	}
	edits = jsonrpc.AppendRemoval(edits, m.Frame, m.Result, gone[:]...)
	if at := r.Structured.Value; at.Present() && (wrapped || !m.IsObject(at)) {
		edits = append(edits, jsonrpc.Edit{Span: jsonrpc.Span{Lo: at.Lo, Hi: at.Lo}, New: wrapOpen},
			jsonrpc.Edit{Span: jsonrpc.Span{Lo: at.Hi, Hi: at.Hi}, New: wrapClose})
	}
	return edits, nil
}
