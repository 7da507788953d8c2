package demoserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// ErrCrash ends Run when calc's tool crash was called: the caller gets no answer.
var ErrCrash = errors.New("calc was told to crash")

// Names returns the names of the servers there are.
func Names() []string { return []string{"notes", "calc"} }

// Run is the server of that name on in and out, until in ends, ctx is done (nil for both) or it crashes (ErrCrash). When ctx
// is done first, a read of in is left behind.
func Run(ctx context.Context, name string, in io.Reader, out io.Writer) error {
	w := &writer{out: out}
	var s *server
	switch name {
	case "notes":
		s = newNotes(w)
	case "calc":
		s = newCalc(w)
	default:
		return fmt.Errorf("no demo server is called %q: there are %s", name, strings.Join(Names(), " and "))
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

// A method answers requests. An error that is no *rpcError is the client's fault, too.
type method func(params json.RawMessage) (result any, err error)

// A server is the part that both have in common.
type server struct {
	*writer
	about        about
	instructions string
	capabilities map[string]any
	tools        []tool
	methods      map[string]method
	level        int // of logLevels; what is below is not sent

	work    sync.WaitGroup                // slow calls
	mu      sync.Mutex                    // guards running
	running map[string]context.CancelFunc // slow calls, by id
}

// about is what a server calls itself.
type about struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version string `json:"version"`
}

func newServer(w *writer, a about, capabilities map[string]any, tools []tool) *server {
	s := &server{writer: w, about: a, capabilities: capabilities, tools: tools, running: map[string]context.CancelFunc{}}
	s.methods = map[string]method{
		"initialize": s.initialize,
		"ping":       func(json.RawMessage) (any, error) { return struct{}{}, nil },
		"tools/list": s.listTools,
	}
	return s
}

// read handles messages until in ends. Slow calls end with it.
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
		if err := s.handle(ctx, line); err != nil {
			return err
		}
	}
	return lines.Err()
}

// handle answers one message. An error ends the server.
func (s *server) handle(ctx context.Context, line []byte) error {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		s.failure(json.RawMessage("null"), unreadable(line))
		return nil
	}
	switch {
	case m.Method == "notifications/cancelled":
		s.cancelled(m.Params)
	case m.Method == "" || m.ID == nil: // a response or another notification: nothing to do
	case m.Method == "tools/call":
		return s.callTool(ctx, m)
	default:
		s.answer(m)
	}
	return nil
}

// unreadable says whether a line is no JSON or no message.
func unreadable(line []byte) *rpcError {
	if json.Valid(line) {
		return &rpcError{codeInvalidRequest, "this is no JSON-RPC message (batches are not supported)"}
	}
	return &rpcError{codeParse, "this is no JSON"}
}

func (s *server) answer(m message) {
	do, ok := s.methods[m.Method]
	if !ok {
		s.failure(m.ID, &rpcError{codeMethodNotFound, fmt.Sprintf("%s has no method %q", s.about.Name, m.Method)})
		return
	}
	result, err := do(m.Params)
	if err != nil {
		s.failure(m.ID, asRPC(err))
		return
	}
	s.result(m.ID, result)
}

func asRPC(err error) *rpcError {
	if e, ok := errors.AsType[*rpcError](err); ok {
		return e
	}
	return &rpcError{codeInvalidParams, err.Error()}
}

// revisions are those the servers speak, the newest first.
var revisions = [...]string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

func (s *server) initialize(params json.RawMessage) (any, error) {
	var p struct{ ProtocolVersion string }
	if err := json.Unmarshal(params, &p); err != nil || p.ProtocolVersion == "" {
		return nil, errors.New("initialize needs a protocolVersion")
	}
	// "If the server supports the requested protocol version, it MUST respond with the same version. Otherwise …
	// another protocol version it supports … SHOULD be the latest" (lifecycle, version negotiation).
	if !slices.Contains(revisions[:], p.ProtocolVersion) {
		p.ProtocolVersion = revisions[0]
	}
	return struct {
		ProtocolVersion string         `json:"protocolVersion"`
		Capabilities    map[string]any `json:"capabilities"`
		ServerInfo      about          `json:"serverInfo"`
		Instructions    string         `json:"instructions,omitempty"`
	}{p.ProtocolVersion, s.capabilities, s.about, s.instructions}, nil
}
