package mcpwire

import (
	"errors"
	"fmt"

	"toolman/jsonrpc"
)

// maxInputRequests is how many things a server may ask for in one round.
const maxInputRequests = 16

// An InputRequest is one thing that a modern server asks of the client. It holds
// places in the message that it was read from.
type InputRequest struct {
	Key    jsonrpc.Span // without its quotes
	Method Method       // CreateMessage, Elicit or ListRoots
	Params jsonrpc.Span // an object, or absent
}

// An Input is what a modern server needs before it can go on.
type Input struct {
	Requests []InputRequest
	State    jsonrpc.Span // a string to give back as it is; absent when there is none
}

// Input reads a result of type input_required (2026-07-28, Multi Round-Trip
// Requests). An error says what is wrong with it: such a round cannot be gone.
func (r *Result) Input(m *jsonrpc.Message) (Input, error) {
	var in Input
	if r.State.Present() {
		if !m.IsString(r.State.Value) {
			return in, errors.New("requestState is not a string")
		}
		in.State = r.State.Value
	}
	if r.Requests.Present() && !m.IsObject(r.Requests.Value) {
		return in, errors.New("inputRequests is not an object")
	}
	for entry := range m.Walk(r.Requests.Value) {
		if len(in.Requests) == maxInputRequests {
			return in, fmt.Errorf("more than %d inputRequests", maxInputRequests)
		}
		request, err := inputRequest(m, entry)
		if err != nil {
			return in, err
		}
		if in.asks(m, request.Key) {
			return in, errors.New("two inputRequests have the same key")
		}
		in.Requests = append(in.Requests, request)
	}
	if len(in.Requests) == 0 && !in.State.Present() {
		return in, errors.New("neither inputRequests nor a requestState")
	}
	return in, nil
}

// asks reports whether a request with this key, however it is spelled, was read.
func (in *Input) asks(m *jsonrpc.Message, key jsonrpc.Span) bool {
	name := string(m.Text(quoted(key)))
	for i := range in.Requests {
		if string(m.Text(quoted(in.Requests[i].Key))) == name {
			return true
		}
	}
	return false
}

// quoted returns the span of a key with its quotes.
func quoted(key jsonrpc.Span) jsonrpc.Span { return jsonrpc.Span{Lo: key.Lo - 1, Hi: key.Hi + 1} }

var inputRequestKeys = [...]string{"method", "params"}

func inputRequest(m *jsonrpc.Message, entry jsonrpc.Member) (InputRequest, error) {
	var found [len(inputRequestKeys)]jsonrpc.Member
	if err := m.Find(entry.Value, inputRequestKeys[:], found[:]); err != nil {
		return InputRequest{}, err
	}
	request := InputRequest{Key: entry.Key, Method: Method(m.Text(found[0].Value)), Params: found[1].Value}
	if !AsksClient(request.Method) {
		return request, errNoAsk
	}
	if request.Params.Present() && !m.IsObject(request.Params) {
		return request, errors.New("an input request whose params are not an object")
	}
	var clear [len(elicitKeys)]jsonrpc.Member // of what decides how it is asked
	return request, m.Find(request.Params, elicitKeys[:], clear[:])
}

var elicitKeys = [...]string{"mode", "elicitationId", "tools", "toolChoice"}

var errNoAsk = fmt.Errorf("an input request that is neither %s nor %s nor %s", CreateMessage, Elicit, ListRoots)

// AsksClient reports whether a method asks something of the client, in both eras.
func AsksClient(method Method) bool {
	return method == CreateMessage || method == Elicit || method == ListRoots
}

// AppendRequest appends the input request as a request to a legacy client, under an
// id of ours, which is a JSON token. elicitationID is for an elicitation in mode
// "url", where such a client needs one (2025-11-25, Elicitation).
func (r *InputRequest) AppendRequest(dst []byte, m *jsonrpc.Message, id []byte, elicitationID string) []byte {
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	dst = append(append(append(dst, `,"method":"`...), r.Method...), '"')
	if !r.Params.Present() {
		return append(dst, '}')
	}
	dst = append(dst, `,"params":`...)
	params := m.Bytes(r.Params)
	if r.Method == Elicit && byURL(params) {
		dst = append(dst, `{"elicitationId":`...)
		dst = append(jsonrpc.AppendQuoted(dst, elicitationID), ',')
		rest, _ := without(params, "elicitationId") // Input has seen to it that it stands there once
		params = rest[1:]                           // the mode is left
	}
	return append(append(dst, params...), '}')
}

// An Answer is what a client said to an input request: its key, without quotes, and
// the result, both as they came.
type Answer struct{ Key, Result []byte }

// AppendRetryMembers appends the members that a retry has more than its request, each
// with a comma behind it: the answers, and the state, a JSON string, or nil when the
// server gave none.
func AppendRetryMembers(dst []byte, answers []Answer, state []byte) []byte {
	if len(answers) > 0 {
		dst = append(dst, `"inputResponses":{`...)
		for i, a := range answers {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(append(dst, '"'), a.Key...), `":`...)
			dst = append(dst, a.Result...)
		}
		dst = append(dst, "},"...)
	}
	if state != nil {
		dst = append(append(append(dst, `"requestState":`...), state...), ',')
	}
	return dst
}

// AddRetry appends edits that make a legacy client's request a retry of itself, with
// members from AppendRetryMembers. They come before those that add a claim.
func AddRetry(edits []jsonrpc.Edit, m *jsonrpc.Message, members []byte) ([]jsonrpc.Edit, error) {
	if !m.IsObject(m.Params) {
		return edits, errors.New("a request without params cannot be made again with more")
	}
	retry, err := retryMembers(m)
	if err != nil {
		return edits, err
	}
	edits = jsonrpc.AppendRemoval(edits, m.Frame, m.Params, retry.Responses, retry.State)
	return jsonrpc.AppendInsertion(edits, m.Frame, m.Params, members), nil
}
