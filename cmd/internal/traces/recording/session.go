package recording

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/files"
	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/jsonrpc/trace/filter"
	"toolman/mcpwire"
)

// A Session is what passed between a client and its server.
type Session struct {
	File     string
	Run      int            // which session of the file, from 1
	Info     *trace.Session // what the trace says of it; may be empty
	Messages []*Message     // in order, without frames that are not JSON-RPC
	Calls    []*Call        // in the order of their requests
	Hellos   []*Call        // handshakes in the other sessions of the file
	Lost     uint64         // lines that the trace lost
}

// A Message is a frame between client and server.
type Message struct {
	*trace.Record
	At                    int   // its index in Session.Messages
	Call                  *Call // the call to which it belongs, or nil
	Params, Result, Error json.RawMessage
}

// FromClient reports whether the client has sent it.
func (m *Message) FromClient() bool { return m.Dir == trace.In }

// Problem says why the message cannot be used again as it is, or "".
func (m *Message) Problem() string {
	switch {
	case m.Trunc || m.Msg == nil:
		return "the trace has only a part of it"
	case len(m.Redacted) > 0:
		return "secrets were removed from it"
	}
	return ""
}

// A Call is a request, of the client or of the server, and what followed.
type Call struct {
	Request  *Message
	Response *Message // nil: there is none
	Cancel   *Message // nil: it was not cancelled
	Parent   *Call    // of a request of the server: the client's call during which it came; nil: none
	// Script is what followed within the call, in order: also Response and Cancel, and the requests
	// of the server with their answers.
	Script []*Message

	key string
}

// FromClient reports whether it is a call of the client.
func (c *Call) FromClient() bool { return c.Request.FromClient() }

// Ended returns where in Session.Messages the call ended: at its response or cancellation.
func (c *Call) Ended() (at int, ok bool) {
	switch {
	case c.Response != nil:
		return c.Response.At, true
	case c.Cancel != nil:
		return c.Cancel.At, true
	}
	return 0, false
}

// Status returns the outcome in the words of the trace.
func (c *Call) Status() string {
	switch {
	case c.Response == nil && c.Cancel != nil:
		return trace.StatusCancelled
	case c.Response == nil:
		return trace.StatusPending
	}
	return StatusOf(c.Response.Result, c.Response.Error)
}

// Code returns the code of an error response, or 0.
func (c *Call) Code() int {
	var e struct{ Code int }
	if c.Response != nil && c.Response.Error != nil {
		json.Unmarshal(c.Response.Error, &e) // a code of another type stays 0
	}
	return e.Code
}

// US returns how long the call took, in microseconds; 0: unknown.
func (c *Call) US() int64 {
	end := cmp.Or(c.Response, c.Cancel)
	if end == nil {
		return 0
	}
	return cmp.Or(end.TotalUS, end.US-c.Request.US)
}

// StatusOf returns the outcome that a response says.
func StatusOf(result, failure json.RawMessage) string {
	var r struct{ IsError bool }
	switch {
	case failure != nil:
		return trace.StatusRPCError
	case json.Unmarshal(result, &r) == nil && r.IsError:
		return trace.StatusToolError
	}
	return trace.StatusOK
}

// A Source is where to read a session.
type Source struct {
	File  string // as files.Resolve takes it
	Last  bool   // the newest trace in place of File
	Run   string // the session's number in the file, or its name; "": the last one with messages
	Stdin io.Reader
}

// Read reads a session.
func Read(ctx context.Context, from Source) (*Session, error) {
	path, err := files.Resolve(from.File, from.Last)
	if err != nil {
		return nil, err
	}
	in, err := files.Open(ctx, path, from.Stdin)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return read(in, path, from.Run)
}

func read(in io.Reader, file, run string) (*Session, error) {
	var found, current *Session
	n, bad := 0, 0
	var all []*Session
	for r, err := range trace.Read(in) {
		if _, ok := errors.AsType[*trace.LineError](err); ok {
			bad++
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		if r.Type == trace.TypeSession || current == nil {
			n++
			if current != nil && current != found {
				current.keepHandshakes()
			}
			current = &Session{File: file, Run: n, Info: cmp.Or(r.Session, new(trace.Session))}
			all = append(all, current)
		}
		current.add(r)
		if current != found && current.is(run) && (run != "" || found == nil || len(current.Messages) > 0) {
			if found != nil {
				found.keepHandshakes()
			}
			found = current
		}
	}
	switch {
	case n == 0 && bad > 0:
		return nil, files.NotTrace(file)
	case n == 0:
		return nil, cli.Failed(fmt.Errorf("%s is empty", file), "record a session with toolman --trace FILE")
	case found == nil:
		return nil, cli.Usage(fmt.Errorf("%s has no run %s", file, run), "it has "+cli.Count(n, "run")+"; --run takes a number from 1, or a run's name")
	case len(found.Messages) == 0:
		return nil, cli.Failed(fmt.Errorf("run %d of %s has no message of a client", found.Run, file), "--run chooses another run")
	}
	found.assemble()
	for _, s := range all {
		if s != found {
			s.keepHandshakes()
			s.assemble()
			found.Hellos = append(found.Hellos, s.Calls...)
		}
	}
	return found, nil
}

func (s *Session) is(run string) bool {
	return run == "" || run == s.Info.Run || run == strconv.Itoa(s.Run)
}

// keepHandshakes drops all other messages of a session that is not used otherwise. Some clients
// make the handshake in a process of its own.
func (s *Session) keepHandshakes() {
	s.Messages = slices.DeleteFunc(s.Messages, func(m *Message) bool {
		return m.Method != string(mcpwire.Initialize) && m.Method != string(mcpwire.Discover)
	})
	for i, m := range s.Messages {
		m.At = i
	}
}

// add keeps what is of use of a record.
func (s *Session) add(r *trace.Record) {
	s.Lost += r.Count
	if r.Type != trace.TypeFrame || r.Leg != trace.Client || r.Kind == trace.Invalid {
		return
	}
	m := &Message{Record: r, At: len(s.Messages)}
	var scanned jsonrpc.Message
	if jsonrpc.Scan(slices.Clone(r.Msg), &scanned) == nil {
		part := func(at jsonrpc.Span) json.RawMessage {
			if !at.Present() {
				return nil
			}
			return scanned.Bytes(at)
		}
		m.Params, m.Result, m.Error = part(scanned.Params), part(scanned.Result), part(scanned.Err)
	}
	s.Messages = append(s.Messages, m)
}

// Select returns the calls that match a filter.
func (s *Session) Select(f *filter.Filter) []*Call {
	var found []*Call
	for _, c := range s.Calls {
		if f.Match(c.subject(f)) {
			found = append(found, c)
		}
	}
	return found
}

func (c *Call) subject(f *filter.Filter) *filter.Subject {
	texts := f.Find(c.Request.Record)
	for _, m := range append(slices.Clone(c.Script), c.Response) {
		if m != nil {
			for i, found := range f.Find(m.Record) {
				texts[i] = texts[i] || found
			}
		}
	}
	return &filter.Subject{
		Peers: []string{c.Request.Peer}, Methods: []string{c.Request.Method}, Names: []string{c.Request.Name},
		Call: c.Request.Record.Call, Status: c.Status(), Code: c.Code(), Failed: trace.IsFailure(c.Status()),
		Dur: time.Duration(c.US()) * time.Microsecond, Texts: texts,
	}
}

// Names returns what the two sides call themselves, with their versions.
func (s *Session) Names() (client, server string) {
	for _, c := range s.Calls {
		if !c.FromClient() {
			continue
		}
		var hello struct {
			ClientInfo implementation `json:"clientInfo"`
		}
		json.Unmarshal(c.Request.Params, &hello)
		client = cmp.Or(client, hello.ClientInfo.String(), infoIn(c.Request.Params, mcpwire.KeyClientInfo))
		if c.Response != nil {
			var answer struct {
				ServerInfo implementation `json:"serverInfo"`
			}
			json.Unmarshal(c.Response.Result, &answer)
			server = cmp.Or(server, answer.ServerInfo.String(), infoIn(c.Response.Result, mcpwire.KeyServerInfo))
		}
		if client != "" && server != "" {
			break
		}
	}
	return cmp.Or(client, s.Info.Client), server
}

type implementation struct{ Name, Version string }

func (i implementation) String() string {
	if i.Version == "" {
		return i.Name
	}
	return i.Name + " " + i.Version
}

func infoIn(object json.RawMessage, key string) string {
	var i implementation
	json.Unmarshal(MetaOf(object)[key], &i) // what is not there stays empty
	return i.String()
}
