package demoserver

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"toolman/cmd/internal/cli"
	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// ErrCrash is the error of Run when calc's tool crash was called: the caller gets no answer.
var ErrCrash = errors.New("calc was told to crash")

const maxLine = 4 << 20 // bytes of a message

//go:embed notes.json calc.json
var results embed.FS

// Names returns the names of the servers.
func Names() []string { return []string{"notes", "calc"} }

// Run runs a server on in and out, until in ends or ctx is done, when it returns nil, or until the
// server crashes, when it returns ErrCrash. If ctx is done first, a read of in may still be going
// on.
func Run(ctx context.Context, name string, in io.Reader, out io.Writer) error {
	if !slices.Contains(Names(), name) {
		return fmt.Errorf("no demo server is called %q: there are %s", name, strings.Join(Names(), " and "))
	}
	s, err := newServer(name, out)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- s.read(ctx, in) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return nil
	}
}

// A method returns the result of a request. An error that is no *jsonrpc.Error is about its params.
type method func(params json.RawMessage) (result any, err error)

// A server is what both servers have in common.
type server struct {
	name    string
	results map[string]json.RawMessage // that are always the same, by method
	methods map[string]method
	tools   map[string]*tool
	level   int            // the least level of log messages that are sent
	work    sync.WaitGroup // slow calls

	mu      sync.Mutex
	out     io.Writer                     // guarded by mu
	running map[string]context.CancelFunc // guarded by mu: slow calls, by ID
}

func newServer(name string, out io.Writer) (*server, error) {
	s := &server{name: name, tools: map[string]*tool{}, out: out, running: map[string]context.CancelFunc{}}
	text, err := results.ReadFile(name + ".json")
	if err != nil {
		return nil, err
	}
	var list struct{ Tools []*tool }
	if err := errors.Join(json.Unmarshal(text, &s.results), json.Unmarshal(s.results["tools/list"], &list)); err != nil {
		return nil, err
	}
	for _, t := range list.Tools {
		s.tools[t.Name] = t
	}
	run := calcTools()
	if name == "notes" {
		run = newNotes(s)
	}
	for name, t := range s.tools {
		t.run = run[name]
	}
	return s, nil
}

// read handles messages until in ends, which also ends slow calls.
func (s *server) read(ctx context.Context, in io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer s.work.Wait()
	defer cancel()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := s.handle(ctx, bytes.Clone(line)); err != nil {
			return err
		}
	}
	return lines.Err()
}

// handle handles one message. An error ends the server.
func (s *server) handle(ctx context.Context, line []byte) error {
	var m jsonrpc.Message
	err := jsonrpc.Scan(line, &m)
	if _, syntax := errors.AsType[*jsonrpc.SyntaxError](err); syntax {
		s.fail(nil, jsonrpc.CodeParseError, "this is no JSON")
	} else if err != nil {
		s.fail(nil, jsonrpc.CodeInvalidRequest, "this is no JSON-RPC message (batches are not supported)")
	}
	name := string(m.Text(m.Method))
	switch {
	case err != nil:
	case name == "notifications/cancelled":
		s.cancel(&m)
	case m.Kind != jsonrpc.Request: // a response, or a notification that needs no action
	case name == "tools/call":
		return s.callTool(ctx, &m)
	default:
		s.answer(&m, name)
	}
	return nil
}

// answer answers a request other than tools/call.
func (s *server) answer(m *jsonrpc.Message, name string) {
	result, static := s.results[name]
	switch do := s.methods[name]; {
	case name == "initialize":
		s.initialize(m, result)
	case static:
		s.reply(m, result)
	case do == nil:
		s.fail(m.Bytes(m.ID), jsonrpc.CodeMethodNotFound, fmt.Sprintf("%s has no method %q", s.name, name))
	default:
		result, err := do(m.Bytes(m.Params))
		if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
			s.fail(m.Bytes(m.ID), e.Code, e.Message)
		} else if err != nil {
			s.fail(m.Bytes(m.ID), jsonrpc.CodeInvalidParams, err.Error())
		} else {
			s.reply(m, result)
		}
	}
}

// initialize negotiates the revision. The other members of its result are always the same.
func (s *server) initialize(m *jsonrpc.Message, rest []byte) {
	asked, err := m.Param("protocolVersion")
	if err != nil || !m.IsString(asked) {
		s.fail(m.Bytes(m.ID), jsonrpc.CodeInvalidParams, "initialize needs a protocolVersion")
		return
	}
	version := fmt.Sprintf(`{"protocolVersion":%q,`, mcpwire.Negotiate(string(m.Text(asked))))
	s.reply(m, json.RawMessage(version+strings.TrimPrefix(string(rest), "{")))
}

// reply sends the result of a request.
func (s *server) reply(m *jsonrpc.Message, result any) {
	s.send(jsonrpc.AppendResult(nil, m.Bytes(m.ID), cli.JSON(result)))
}

func (s *server) fail(id []byte, code int64, message string) {
	s.send(jsonrpc.AppendError(nil, id, code, message, nil))
}

// notify sends a notification. The format is that of its params, in JSON; "" stands for none.
func (s *server) notify(method, format string, args ...any) {
	s.send(jsonrpc.AppendNotification(nil, method, fmt.Appendf(nil, format, args...)))
}

// send writes one message. The reader notices a client that is gone.
func (s *server) send(frame []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.out.Write(append(frame, '\n'))
}
