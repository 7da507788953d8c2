package mcpwire

import (
	"errors"
	"fmt"
	"strconv"

	"toolman/jsonrpc"
)

// An Ask is a request that a legacy server makes to the client, in the form in which
// a modern client gets it. Its bytes are its own.
type Ask struct {
	Key    string
	Method Method
	Params []byte // nil when there are none
}

// AskOf reads a legacy server's request, to be asked under this key. What belongs to
// a request, and not to what it asks, is left out: the progress token, the task, and
// the id of an elicitation, which the modern era does not have.
func AskOf(m *jsonrpc.Message, key string) (Ask, error) {
	a := Ask{Key: key, Method: Method(m.Text(m.Method))}
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
	var inner [len(askMetaKeys)]jsonrpc.Member
	if err := m.Find(gone[2].Value, askMetaKeys[:], inner[:]); err != nil {
		return a, err
	}
	edits, empty := removeFrom(nil, m.Frame, gone[2].Value, inner[:]...)
	if !empty {
		gone[2] = jsonrpc.Member{}
	}
	edits = jsonrpc.AppendRemoval(edits, m.Frame, m.Params, gone[:]...)
	a.Params = edited(m.Frame, m.Params, edits)
	return a, nil
}

var askMetaKeys = [...]string{"progressToken", "io.modelcontextprotocol/related-task"}

// edited returns a copy of a part of a frame with edits, which lie within it.
func edited(frame []byte, part jsonrpc.Span, edits []jsonrpc.Edit) []byte {
	whole := jsonrpc.AppendSplice(nil, frame, edits...)
	return whole[part.Lo : len(whole)-(len(frame)-part.Hi)]
}

// without returns a copy of an object without the member.
func without(object []byte, key string) ([]byte, error) {
	m := jsonrpc.Message{Frame: object}
	whole := jsonrpc.Span{Hi: len(object)}
	var found [1]jsonrpc.Member
	if err := m.Find(whole, []string{key}, found[:]); err != nil {
		return nil, err
	}
	return jsonrpc.AppendSplice(nil, object, jsonrpc.AppendRemoval(nil, object, whole, found[0])...), nil
}

// URLAsks reads what an error with CodeURLElicitation wants of the user: each elicitation
// becomes an input request, with keys from "0" on. Once they are answered, the
// request can be made again.
func URLAsks(m *jsonrpc.Message) ([]Ask, error) {
	data, err := m.Get(m.Err, "data")
	if err != nil {
		return nil, err
	}
	list, err := m.Get(data, "elicitations")
	if err != nil {
		return nil, err
	}
	var asks []Ask
	for at := range jsonrpc.Elements(m.Frame, list) {
		if len(asks) == maxInputRequests {
			return nil, fmt.Errorf("more than %d elicitations", maxInputRequests)
		}
		if !m.IsObject(at) || !byURL(m.Bytes(at)) {
			return nil, errors.New(`an elicitation that is not of mode "url"`)
		}
		params, err := without(m.Bytes(at), "elicitationId")
		if err != nil {
			return nil, err
		}
		asks = append(asks, Ask{strconv.Itoa(len(asks)), Elicit, params})
	}
	if len(asks) == 0 {
		return nil, errors.New("no elicitations")
	}
	return asks, nil
}

// AppendRequest appends the ask as a request to a legacy client, under an id, which is a
// JSON token. It is no elicitation in mode "url".
func (a *Ask) AppendRequest(dst, id []byte) []byte {
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	dst = append(append(append(dst, `,"method":"`...), a.Method...), '"')
	if a.Params != nil {
		dst = append(append(dst, `,"params":`...), a.Params...)
	}
	return append(dst, '}')
}

// AppendInputRequired appends the response that asks a modern client for input before
// its request, with this id, can go on. state comes back with the answers.
func AppendInputRequired(dst, id []byte, asks []Ask, state string) []byte {
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	dst = append(dst, `,"result":{"resultType":"input_required","inputRequests":{`...)
	for i, a := range asks {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonrpc.AppendQuoted(dst, a.Key), `:{"method":"`...)
		dst = append(append(dst, a.Method...), '"')
		if a.Params != nil {
			dst = append(append(dst, `,"params":`...), a.Params...)
		}
		dst = append(dst, '}')
	}
	dst = append(dst, `},"requestState":`...)
	return append(jsonrpc.AppendQuoted(dst, state), "}}"...)
}
