package mcpwire

import "toolman/jsonrpc"

// A Retry is where a modern client's request holds what was asked of it. It holds
// places in the message that it was read from.
type Retry struct{ Responses, State jsonrpc.Member }

// Is reports whether the request is a retry at all.
func (r *Retry) Is() bool { return r.Responses.Present() || r.State.Present() }

// RetryOf reads what makes a request of a modern client a retry. Each error is a
// *Refusal.
func RetryOf(m *jsonrpc.Message) (Retry, error) {
	r, err := retryMembers(m)
	switch {
	case err != nil:
		return Retry{}, invalid(err.Error())
	case r.State.Present() && !m.IsString(r.State.Value):
		return Retry{}, invalid("params.requestState must be the string that the server gave")
	case r.Responses.Present() && !m.IsObject(r.Responses.Value):
		return Retry{}, invalid("params.inputResponses must be an object")
	}
	return r, nil
}

func retryMembers(m *jsonrpc.Message) (r Retry, err error) {
	if r.Responses, err = m.ParamMember("inputResponses"); err != nil {
		return r, err
	}
	r.State, err = m.ParamMember("requestState")
	return r, err
}

// Strip appends edits that make the request the one that a legacy server gets: without
// the envelope, as StripEnvelope does, and without what makes it a retry.
func (r *Retry) Strip(edits []jsonrpc.Edit, m *jsonrpc.Message, e *Envelope) []jsonrpc.Edit {
	if !r.Is() {
		return StripEnvelope(edits, m, e)
	}
	edits, empty := removeFrom(edits, m.Frame, e.Meta.Value, e.Version, e.Capabilities, e.ClientInfo, e.LogLevel)
	gone := [3]jsonrpc.Member{r.Responses, r.State}
	if empty {
		gone[2] = e.Meta
	}
	return jsonrpc.AppendRemoval(edits, m.Frame, m.Params, gone[:]...)
}

// Response returns the answer to the input request with this key, as it came: it
// is the result of that request. It is absent when the client has not given one, which
// is no error. An error is a *Refusal.
func (r *Retry) Response(m *jsonrpc.Message, key string) (jsonrpc.Span, error) {
	at, err := m.Get(r.Responses.Value, key)
	switch {
	case err != nil:
		return jsonrpc.Span{}, invalid(err.Error())
	case at.Present() && !m.IsObject(at):
		return jsonrpc.Span{}, invalid("params.inputResponses: each answer must be an object")
	}
	return at, nil
}
