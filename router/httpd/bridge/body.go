package bridge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"toolman/jsonrpc"
	"toolman/mcpwire/sanitize"
	"toolman/router/budget"
	"toolman/router/httpd"
)

// in returns what reads the body of a client's request, and counts what is kept for it.
func (b *Bridge) in(w http.ResponseWriter, r *http.Request, who httpd.Caller) *budget.Reader {
	return who.Client.Account.Reader(http.MaxBytesReader(w, r.Body, b.o.MaxBody))
}

// A body is the JSON object that was POSTed. Nothing of it is decoded but what is asked for.
type body struct {
	m       jsonrpc.Message
	members map[string]jsonrpc.Span
}

// read reads the body of a request, an object that may have these members.
func (b *Bridge) read(r *http.Request, in *budget.Reader, members ...string) (*body, *Failure) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		// A form of a foreign web page cannot be of this type.
		return nil, fail(BadRequest, "the request needs the header Content-Type: application/json (with curl: --json, or -H and that)")
	}
	text, err := io.ReadAll(in)
	if long, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, fail(TooLarge, fmt.Sprintf("the request is longer than %d bytes (max_body_bytes in [http])", long.Limit))
	}
	if _, full := errors.AsType[*budget.LimitError](err); full {
		return nil, limited(err)
	}
	if err != nil {
		return nil, fail(BadRequest, "the body of the request did not come whole")
	}
	return parse(text, members...)
}

// parse reads an object. The text is the body's from now on.
func parse(text []byte, members ...string) (*body, *Failure) {
	text = bytes.Trim(text, " \t\r\n")
	if !jsonrpc.Valid(text) {
		return nil, fail(BadRequest, "the request is not valid JSON, or is nested too deep")
	}
	jsonrpc.OneLine(text) // parts of it enter messages to servers that take one a line
	p := &body{m: jsonrpc.Message{Frame: text}, members: map[string]jsonrpc.Span{}}
	whole := jsonrpc.Span{Hi: len(text)}
	if !p.m.IsObject(whole) {
		return nil, fail(BadRequest, "the request has to be a JSON object")
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

// text is a member that is a string; "" when it is not there.
func (p *body) text(key string) (string, *Failure) {
	at := p.members[key]
	if at.Present() && !p.m.IsString(at) {
		return "", fail(BadRequest, key+" has to be a string")
	}
	return string(p.m.Text(at)), nil
}

// object is a member that is an object, as it came; {} when it is not there.
func (p *body) object(key string) ([]byte, *Failure) {
	at := p.members[key]
	switch {
	case !at.Present():
		return []byte("{}"), nil
	case !p.m.IsObject(at):
		return nil, fail(BadRequest, key+" has to be an object")
	}
	return p.m.Bytes(at), nil
}
