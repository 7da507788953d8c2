package demoserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// A toolCall is the params of tools/call.
type toolCall struct {
	Name      string `json:"name"`
	Arguments args   `json:"arguments"`
	Meta      struct {
		ProgressToken json.RawMessage `json:"progressToken"`
	} `json:"_meta"`
}

type toolResult struct {
	Content    []content `json:"content"`
	Structured any       `json:"structuredContent,omitempty"`
	IsError    bool      `json:"isError,omitempty"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// callTool runs a tool. An error ends the server.
func (s *server) callTool(ctx context.Context, m message) error {
	var c toolCall
	if err := json.Unmarshal(m.Params, &c); err != nil {
		s.failure(m.ID, &rpcError{codeInvalidParams, "tools/call needs a name, and an object as arguments"})
		return nil
	}
	i := slices.IndexFunc(s.tools, func(t tool) bool { return t.name == c.Name })
	if i < 0 {
		s.failure(m.ID, &rpcError{codeInvalidParams, fmt.Sprintf("unknown tool %q", c.Name)})
		return nil
	}
	o, err := s.tools[i].call(c.Arguments)
	switch {
	case errors.Is(err, ErrCrash):
		return err
	case err != nil: // a result, because the model is to see it
		s.result(m.ID, toolResult{Content: []content{{"text", err.Error()}}, IsError: true})
	case o.later != nil:
		s.runLater(ctx, m.ID, o, s.progress(c.Meta.ProgressToken))
	default:
		s.found(m.ID, o)
	}
	return nil
}

func (t *tool) call(a args) (outcome, error) {
	if err := t.check(a); err != nil {
		return outcome{}, err
	}
	return t.run(a)
}

func (s *server) found(id json.RawMessage, o outcome) {
	s.result(id, toolResult{Content: []content{{"text", o.text}}, Structured: o.structured})
}

// runLater lets a slow tool run beside other requests, until it is cancelled.
func (s *server) runLater(ctx context.Context, id json.RawMessage, o outcome, report progress) {
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	s.running[string(id)] = cancel
	s.mu.Unlock()
	s.work.Go(func() {
		found := o.later(ctx, report)
		s.mu.Lock()
		delete(s.running, string(id))
		s.mu.Unlock()
		if ctx.Err() == nil { // "Not send a response for the cancelled request" (cancellation)
			s.found(id, found)
		}
		cancel()
	})
}

// cancelled is notifications/cancelled.
func (s *server) cancelled(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.running[string(p.RequestID)]; cancel != nil {
		cancel()
	}
}
