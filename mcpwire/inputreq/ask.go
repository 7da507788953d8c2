package inputreq

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// maxAsks is how many input requests a server may make at once.
const maxAsks = 16

// An Ask is a request of a legacy server to the client, or an input request of a modern server.
type Ask struct {
	Key    string         // of the input request, as it is spelled in JSON, without quotes
	Method mcpwire.Method // CreateMessage, Elicit or ListRoots
	Params []byte         // an object; nil if there are none
}

// AsksClient reports whether servers use a method to ask the client for input, in both eras.
func AsksClient(method mcpwire.Method) bool {
	return method == mcpwire.CreateMessage || method == mcpwire.Elicit || method == mcpwire.ListRoots
}

var errNoAsk = errors.New("an input request that is neither " + string(mcpwire.CreateMessage) + " nor " + string(mcpwire.Elicit) + " nor " + string(mcpwire.ListRoots))

var requestMetaKeys = [...]string{"progressToken", "io.modelcontextprotocol/related-task"}

// AskOf reads a legacy server's request, as an Ask with this key. It leaves out the members that
// belong to the request itself: the progress token, the task, and the ID of an elicitation, which
// the modern era does not have.
func AskOf(m *jsonrpc.Message, key string) (Ask, error) {
	a := Ask{Key: key, Method: mcpwire.Method(m.Text(m.Method))}
	if !AsksClient(a.Method) {
		return a, errNoAsk
	}
	if !m.IsObject(m.Params) {
		return a, nil
	}
	var gone [3]jsonrpc.Member
	for i, name := range [...]string{"elicitationId", "task", "_meta"} {
		var err error
		if gone[i], err = m.ParamMember(name); err != nil {
			return a, err
		}
	}
	var inner [len(requestMetaKeys)]jsonrpc.Member
	if err := m.Find(gone[2].Value, requestMetaKeys[:], inner[:]); err != nil {
		return a, err
	}
	edits, empty := mcpwire.RemoveFrom(nil, m.Frame, gone[2].Value, inner[:]...)
	if !empty {
		gone[2] = jsonrpc.Member{}
	}
	edits = jsonrpc.AppendRemoval(edits, m.Frame, m.Params, gone[:]...)
	whole := jsonrpc.AppendSplice(nil, m.Frame, edits...)
	a.Params = whole[m.Params.Lo : len(whole)-(len(m.Frame)-m.Params.Hi)]
	return a, nil
}

// URLAsks reads the elicitations of an error with CodeURLElicitation as Asks, with keys from "0"
// on. Once they are answered, the request can be sent again.
func URLAsks(m *jsonrpc.Message) ([]Ask, error) {
	list, err := elicitations(m)
	if err != nil {
		return nil, err
	}
	var asks []Ask
	for at := range jsonrpc.Elements(m.Frame, list) {
		if len(asks) == maxAsks {
			return nil, fmt.Errorf("more than %d elicitations", maxAsks)
		}
		if !m.IsObject(at) || !byURL(m.Bytes(at)) {
			return nil, errors.New(`an elicitation that is not of mode "url"`)
		}
		params, err := withoutID(m.Bytes(at))
		if err != nil {
			return nil, err
		}
		asks = append(asks, Ask{strconv.Itoa(len(asks)), mcpwire.Elicit, params})
	}
	if len(asks) == 0 {
		return nil, errors.New("no elicitations")
	}
	return asks, nil
}

// elicitations returns the list of elicitations in an error with CodeURLElicitation.
func elicitations(m *jsonrpc.Message) (jsonrpc.Span, error) {
	data, err := m.Get(m.Err, "data")
	if err != nil {
		return jsonrpc.Span{}, err
	}
	return m.Get(data, "elicitations")
}

// withoutID returns a copy of the params of an elicitation without its ID.
func withoutID(params []byte) ([]byte, error) {
	m := jsonrpc.Message{Frame: params}
	whole := jsonrpc.Span{Hi: len(params)}
	id, err := m.GetMember(whole, "elicitationId")
	if err != nil {
		return nil, err
	}
	return jsonrpc.AppendSplice(nil, params, jsonrpc.AppendRemoval(nil, params, whole, id)...), nil
}

// An Input is what a modern server needs to continue with a request. It holds parts of the message
// that it was read from.
type Input struct {
	Asks  []Ask
	State jsonrpc.Span // a string to be sent back unchanged; absent if there is none
}

// InputOf reads a result of type input_required (2026-07-28, Multi Round-Trip Requests).
func InputOf(r *mcpwire.Result, m *jsonrpc.Message) (in Input, err error) {
	if r.State.Present() {
		if !m.IsString(r.State.Value) {
			return in, errors.New("requestState is not a string")
		}
		in.State = r.State.Value
	}
	if r.Requests.Present() && !m.IsObject(r.Requests.Value) {
		return in, errors.New("inputRequests is not an object")
	}
	var names []string
	for entry := range m.Walk(r.Requests.Value) {
		if len(in.Asks) == maxAsks {
			return in, fmt.Errorf("more than %d inputRequests", maxAsks)
		}
		name := string(m.Text(jsonrpc.Span{Lo: entry.Key.Lo - 1, Hi: entry.Key.Hi + 1}))
		if slices.Contains(names, name) {
			return in, errors.New("two inputRequests have the same key")
		}
		names = append(names, name)
		ask, err := inputRequest(m, entry)
		if err != nil {
			return in, err
		}
		in.Asks = append(in.Asks, ask)
	}
	if len(in.Asks) == 0 && !in.State.Present() {
		return in, errors.New("neither inputRequests nor a requestState")
	}
	return in, nil
}

var (
	inputRequestKeys = [...]string{"method", "params"}
	elicitKeys       = [...]string{"mode", "elicitationId", "tools", "toolChoice"} // must be unambiguous
)

func inputRequest(m *jsonrpc.Message, entry jsonrpc.Member) (Ask, error) {
	var found [len(inputRequestKeys)]jsonrpc.Member
	if err := m.Find(entry.Value, inputRequestKeys[:], found[:]); err != nil {
		return Ask{}, err
	}
	a := Ask{Key: string(m.Bytes(entry.Key)), Method: mcpwire.Method(m.Text(found[0].Value))}
	params := found[1].Value
	switch {
	case !AsksClient(a.Method):
		return a, errNoAsk
	case !params.Present():
		return a, nil
	case !m.IsObject(params):
		return a, errors.New("an input request whose params are not an object")
	}
	a.Params = m.Bytes(params)
	var unused [len(elicitKeys)]jsonrpc.Member
	return a, m.Find(params, elicitKeys[:], unused[:])
}

// AppendRequest appends the ask as a request to a legacy client, with this ID, a JSON token.
// elicitationID is for an elicitation in mode "url", where such a client needs one (2025-11-25,
// Elicitation).
func (a *Ask) AppendRequest(dst, id []byte, elicitationID string) []byte {
	params := a.Params
	if a.Method == mcpwire.Elicit && byURL(params) {
		rest, _ := withoutID(params) // cannot fail: inputRequest has checked the member
		params = fmt.Appendf(nil, `{"elicitationId":%s,%s`, jsonrpc.AppendQuoted(nil, elicitationID), rest[1:])
	}
	return a.append(fmt.Appendf(dst, `{"jsonrpc":"2.0","id":%s,`, id), params)
}

// append appends the members of a request, and the end of its object.
func (a *Ask) append(dst, params []byte) []byte {
	dst = fmt.Appendf(dst, `"method":"%s"`, a.Method)
	if params != nil {
		dst = fmt.Appendf(dst, `,"params":%s`, params)
	}
	return append(dst, '}')
}

// AppendInputRequired appends the response that asks a modern client for input before its request
// with this ID can continue. The client sends state back with the answers.
func AppendInputRequired(dst, id []byte, asks []Ask, state string) []byte {
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...) // fmt would move the owner of id to the heap
	dst = append(dst, `,"result":{"resultType":"input_required","inputRequests":{`...)
	for i, a := range asks {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = a.append(fmt.Appendf(dst, `"%s":{`, a.Key), a.Params)
	}
	return fmt.Appendf(dst, `},"requestState":%s}}`, jsonrpc.AppendQuoted(nil, state))
}

// An Answer is a client's answer to an input request: its key, without quotes, and the result, both
// as they came.
type Answer struct{ Key, Result []byte }

// AppendRetryMembers appends the additional members of a retry, each with a comma behind it: the
// answers, and the state, a JSON string, or nil if the server sent none.
func AppendRetryMembers(dst []byte, answers []Answer, state []byte) []byte {
	if len(answers) > 0 {
		dst = append(dst, `"inputResponses":{`...)
		for i, a := range answers {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = fmt.Appendf(dst, `"%s":%s`, a.Key, a.Result)
		}
		dst = append(dst, "},"...)
	}
	if state != nil {
		dst = fmt.Appendf(dst, `"requestState":%s,`, state)
	}
	return dst
}

// AddRetry appends edits that turn a legacy client's request into a retry, with members from
// AppendRetryMembers. They must come before the edits that add a claim.
func AddRetry(edits []jsonrpc.Edit, m *jsonrpc.Message, members []byte) ([]jsonrpc.Edit, error) {
	if !m.IsObject(m.Params) {
		return edits, errors.New("a request without params cannot be retried with answers")
	}
	retry, err := retryMembers(m)
	if err != nil {
		return edits, err
	}
	edits = jsonrpc.AppendRemoval(edits, m.Frame, m.Params, retry.Responses, retry.State)
	return jsonrpc.AppendInsertion(edits, m.Frame, m.Params, members), nil
}

// A Retry holds the members with which a modern client answers input requests, as places in the
// message that it was read from.
type Retry struct{ Responses, State jsonrpc.Member }

// Is reports whether the request is a retry.
func (r *Retry) Is() bool { return r.Responses.Present() || r.State.Present() }

// RetryOf reads the members that make a modern client's request a retry. Each error is a *Refusal.
func RetryOf(m *jsonrpc.Message) (Retry, error) {
	r, err := retryMembers(m)
	switch {
	case err != nil:
		return Retry{}, mcpwire.Invalid(err.Error())
	case r.State.Present() && !m.IsString(r.State.Value):
		return Retry{}, mcpwire.Invalid("params.requestState must be the string that the server sent")
	case r.Responses.Present() && !m.IsObject(r.Responses.Value):
		return Retry{}, mcpwire.Invalid("params.inputResponses must be an object")
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

// Strip appends edits that adapt the request to a legacy server. They remove the envelope, as
// StripEnvelope does, and the members of a retry.
func (r *Retry) Strip(edits []jsonrpc.Edit, m *jsonrpc.Message, e *mcpwire.Envelope) []jsonrpc.Edit {
	if !r.Is() {
		return mcpwire.StripEnvelope(edits, m, e)
	}
	edits, empty := mcpwire.RemoveFrom(edits, m.Frame, e.Meta.Value, e.Version, e.Capabilities, e.ClientInfo, e.LogLevel)
	gone := [3]jsonrpc.Member{r.Responses, r.State}
	if empty {
		gone[2] = e.Meta
	}
	return jsonrpc.AppendRemoval(edits, m.Frame, m.Params, gone[:]...)
}

// Response returns the answer to the input request with this key, which is the result of that
// request. It is absent if the client has sent none. Each error is a *Refusal.
func (r *Retry) Response(m *jsonrpc.Message, key string) (jsonrpc.Span, error) {
	at, err := m.Get(r.Responses.Value, key)
	switch {
	case err != nil:
		return jsonrpc.Span{}, mcpwire.Invalid(err.Error())
	case at.Present() && !m.IsObject(at):
		return jsonrpc.Span{}, mcpwire.Invalid("params.inputResponses: each answer must be an object")
	}
	return at, nil
}
