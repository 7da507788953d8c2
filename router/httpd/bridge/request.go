package bridge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"toolman/jsonrpc"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/sanitize"
	"toolman/router/budget"
)

// A body is the JSON object of a request. Its members are decoded when they are used.
type body struct {
	m       jsonrpc.Message
	members map[string]jsonrpc.Span
}

// read reads the body of the request: an object with these members, all optional, and a correlation
// ID, which it sets for the exchange.
func (x *exchange) read(members ...string) (*body, error) {
	const key = "correlation_id"
	p, err := x.readBody(append(members, key))
	id := ""
	if err == nil {
		id, err = p.text(key)
	}
	x.correlation = correlationOf(x.r, id)
	x.w.Header().Set(headerCorrelation, x.correlation)
	x.o.Correlate(x.r, x.correlation)
	return p, err
}

func (x *exchange) readBody(members []string) (*body, error) {
	if httpheader.MediaType(x.r.Header) != httpheader.JSON {
		// A page of another site cannot send a form with this type.
		return nil, fail(BadRequest, "the request needs the header Content-Type: application/json (with curl: --json, or -H and that)")
	}
	text, err := io.ReadAll(x.kept)
	if long, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, fail(TooLarge, fmt.Sprintf("the request is longer than %d bytes (max_body_bytes in [http])", long.Limit))
	}
	if _, full := errors.AsType[*budget.LimitError](err); full {
		return nil, failureFor(err)
	}
	if err != nil {
		return nil, fail(BadRequest, "the request body is incomplete")
	}
	return parse(text, members...)
}

// parse reads an object. It may change the text, and the body keeps it.
func parse(text []byte, members ...string) (*body, error) {
	text = bytes.Trim(text, " \t\r\n")
	if !jsonrpc.ValidWithin(1, text) { // the message to the server nests its parts one level deeper
		return nil, fail(BadRequest, "the request is not valid JSON, or is nested too deep")
	}
	jsonrpc.OneLine(text) // a message over a pipe is one line
	p := &body{m: jsonrpc.Message{Frame: text}, members: map[string]jsonrpc.Span{}}
	whole := jsonrpc.Span{Hi: len(text)}
	if !p.m.IsObject(whole) {
		return nil, fail(BadRequest, "the request must be a JSON object")
	}
	found := make([]jsonrpc.Member, len(members))
	if err := p.m.Find(whole, members, found); err != nil {
		return nil, fail(BadRequest, err.Error())
	}
	for key := range jsonrpc.Members(text, whole) {
		if !slices.Contains(members, key) {
			return nil, fail(BadRequest, fmt.Sprintf("the request has a member %s, and may have %s", sanitize.Quoted(key, maxShown), strings.Join(members, ", ")))
		}
	}
	for i, key := range members {
		p.members[key] = found[i].Value
	}
	return p, nil
}

// text returns a member that is a string; "" if it is absent.
func (p *body) text(key string) (string, error) {
	at := p.members[key]
	if at.Present() && !p.m.IsString(at) {
		return "", fail(BadRequest, key+" must be a string")
	}
	return string(p.m.Text(at)), nil
}

// object returns a member that is an object, verbatim; {} if it is absent.
func (p *body) object(key string) ([]byte, error) {
	at := p.members[key]
	switch {
	case !at.Present():
		return []byte("{}"), nil
	case !p.m.IsObject(at):
		return nil, fail(BadRequest, key+" must be an object")
	}
	return p.m.Bytes(at), nil
}
