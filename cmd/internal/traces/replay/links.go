package replay

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"toolman/cmd/internal/traces/recording"
	"toolman/mcpwire"
)

// links map values that the recorded server made up to those of the new one. A key has the name of
// the member in requests before it.
type links map[string]json.RawMessage

// made returns the name that a member of results has when clients send it back, or "".
func made(key string) string {
	switch key {
	case "nextCursor":
		return "cursor"
	case "taskId":
		return key
	}
	return ""
}

// learn finds the values at the same places of two results.
func (l links) learn(recorded, got json.RawMessage) {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(recorded, &a) != nil || json.Unmarshal(got, &b) != nil {
		return
	}
	for key, was := range a {
		is := b[key]
		if name := made(key); name != "" && is != nil {
			l[name+string(was)] = is
		}
		if key == "task" {
			l.learn(was, is)
		}
	}
}

// linked returns the params of a request for the new server, or why it cannot be sent.
func (p *player) linked(c *recording.Call) (params json.RawMessage, why string) {
	var members map[string]json.RawMessage
	if c.Request.Params == nil || json.Unmarshal(c.Request.Params, &members) != nil {
		return c.Request.Params, ""
	}
	changed := false
	for _, name := range []string{"cursor", "taskId"} {
		if is := p.links[name+string(members[name])]; is != nil {
			members[name], changed = is, true
		}
	}
	if mcpwire.TakesInput(mcpwire.MethodOf([]byte(c.Request.Method))) && (members[recording.InputResponses] != nil || members[recording.RequestState] != nil) {
		if why := p.round(c, members); why != "" {
			return nil, why
		}
		changed = true
	}
	if !changed {
		return c.Request.Params, ""
	}
	return object(members), ""
}

// An inputRequired is a result that asks for input.
type inputRequired struct {
	ResultType    string
	InputRequests map[string]struct {
		Method string
		Params json.RawMessage
	}
	RequestState json.RawMessage
}

func (i *inputRequired) asks() bool { return i.ResultType == "input_required" }

func parseInputRequired(result json.RawMessage) (i inputRequired) {
	json.Unmarshal(result, &i) // what is not there stays empty
	return i
}

// round makes the params those of the next round of a call at the new server.
func (p *player) round(c *recording.Call, members map[string]json.RawMessage) (why string) {
	before := p.roundBefore(c, members[recording.RequestState])
	if before == nil {
		return "the recording does not have the round before"
	}
	r := p.sent[before]
	if r == nil {
		return "the round before was not sent"
	}
	p.settle(r) // the recording may not have waited
	was, is := parseInputRequired(before.Response.Result), parseInputRequired(r.result)
	if !is.asks() {
		return "the server did not ask for input"
	}
	delete(members, recording.RequestState)
	if is.RequestState != nil {
		members[recording.RequestState] = is.RequestState
	}
	var answers map[string]json.RawMessage
	if json.Unmarshal(members[recording.InputResponses], &answers) != nil || len(answers) == 0 {
		return ""
	}
	given := map[string]json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(is.InputRequests)) {
		if answer := answers[keyFor(key, &is, &was, answers)]; answer != nil {
			given[key] = answer
		}
	}
	members[recording.InputResponses] = object(given)
	return ""
}

// keyFor returns the key of the recorded request that a request of the new server is: with the same
// params, with the same key, or any of the same method.
func keyFor(key string, is, was *inputRequired, answers map[string]json.RawMessage) string {
	asked := is.InputRequests[key]
	best, rank := "", 0
	for _, other := range slices.Sorted(maps.Keys(was.InputRequests)) {
		one := was.InputRequests[other]
		found := 0
		switch {
		case one.Method != asked.Method || answers[other] == nil:
		case recording.Arguments(one.Params) == recording.Arguments(asked.Params):
			if found = 3; other == key {
				found = 4
			}
		case other == key:
			found = 2
		default:
			found = 1
		}
		if found > rank {
			best, rank = other, found
		}
	}
	return best
}

// roundBefore returns the call whose result asked for what c sends: it had the same state, or else
// it is the latest that asked with the same arguments.
func (p *player) roundBefore(c *recording.Call, state json.RawMessage) *recording.Call {
	arguments := recording.Arguments(c.Request.Params, recording.InputResponses)
	for _, other := range slices.Backward(p.session.Calls) {
		if other.Response == nil || other.Response.At > c.Request.At || other.Base() != c.Base() {
			continue
		}
		asked := parseInputRequired(other.Response.Result)
		if asked.asks() && bytes.Equal(asked.RequestState, state) && recording.Arguments(other.Request.Params, recording.InputResponses) == arguments {
			return other
		}
	}
	return nil
}

// object returns an object of JSON.
func object(members map[string]json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(members) // of valid JSON
	return bytes.TrimSpace(b.Bytes())
}
