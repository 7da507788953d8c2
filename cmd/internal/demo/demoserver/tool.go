package demoserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// A tool is one that a server offers. All its parameters are required.
type tool struct {
	Name        string
	InputSchema struct {
		Properties map[string]struct{ Type string }
		Required   []string
	}
	run run
}

// A run runs a tool. Its error is for the model to read, except ErrCrash.
type run func(a args) (outcome, error)

// args are the arguments of a call, of the types that the tool's schema requires.
type args map[string]any

func (a args) text(name string) string    { return a[name].(string) }
func (a args) number(name string) float64 { return a[name].(float64) }

// An outcome is the result of a tool: a text for the model and optionally the same for programs.
// A slow tool returns later instead, which runs in the background until ctx is done.
type outcome struct {
	text       string
	structured any
	later      func(ctx context.Context, report progress) outcome
}

func text(format string, args ...any) outcome { return outcome{text: fmt.Sprintf(format, args...)} }

// progress reports how far a call is.
type progress func(done, total int)

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type toolResult struct {
	Content    []content `json:"content"`
	Structured any       `json:"structuredContent,omitempty"`
	IsError    bool      `json:"isError,omitempty"`
}

func (s *server) replyTool(m *jsonrpc.Message, o outcome, isError bool) {
	s.reply(m, toolResult{[]content{{"text", o.text}}, o.structured, isError})
}

// callTool runs a tool. An error ends the server.
func (s *server) callTool(ctx context.Context, m *jsonrpc.Message) error {
	var call struct {
		Name      string
		Arguments args
	}
	if err := json.Unmarshal(m.Bytes(m.Params), &call); err != nil {
		s.fail(m.Bytes(m.ID), jsonrpc.CodeInvalidParams, "tools/call needs a name, and an object as arguments")
		return nil
	}
	t := s.tools[call.Name]
	if t == nil {
		s.fail(m.Bytes(m.ID), jsonrpc.CodeInvalidParams, fmt.Sprintf("unknown tool %q", call.Name))
		return nil
	}
	o, err := t.call(call.Arguments)
	switch {
	case errors.Is(err, ErrCrash):
		return err
	case err != nil: // a result, so that the model sees it
		s.replyTool(m, text("%s", err), true)
	case o.later != nil:
		s.runLater(ctx, m, o)
	default:
		s.replyTool(m, o, false)
	}
	return nil
}

// call checks the arguments and runs the tool.
func (t *tool) call(a args) (outcome, error) {
	for _, name := range t.InputSchema.Required {
		want := t.InputSchema.Properties[name].Type
		_, isText := a[name].(string)
		_, isNumber := a[name].(float64)
		switch {
		case a[name] == nil:
			return outcome{}, fmt.Errorf("%s is missing: %s takes %s", name, t.Name, strings.Join(t.InputSchema.Required, " and "))
		case want == "string" && !isText, want == "number" && !isNumber:
			return outcome{}, fmt.Errorf("%s has to be a %s", name, want)
		}
	}
	return t.run(a)
}

// runLater runs a slow tool in the background, until it is cancelled.
func (s *server) runLater(ctx context.Context, m *jsonrpc.Message, o outcome) {
	ctx, cancel := context.WithCancel(ctx)
	id := string(m.Bytes(m.ID))
	s.mu.Lock()
	s.running[id] = cancel
	s.mu.Unlock()
	s.work.Go(func() {
		found := o.later(ctx, s.progress(m))
		s.mu.Lock()
		delete(s.running, id)
		s.mu.Unlock()
		if ctx.Err() == nil { // "Not send a response for the cancelled request" (cancellation)
			s.replyTool(m, found, false)
		}
		cancel()
	})
}

// progress returns what reports the progress of a call, if the client has asked for it.
func (s *server) progress(m *jsonrpc.Message) progress {
	token, err := mcpwire.ProgressToken(m)
	if err != nil || !token.Present() {
		return func(int, int) {}
	}
	return func(done, total int) {
		s.notify("notifications/progress", `{"progressToken":%s,"progress":%d,"total":%d,"message":"exported %[2]d of %[3]d"}`, m.Bytes(token), done, total)
	}
}

// cancel handles notifications/cancelled.
func (s *server) cancel(m *jsonrpc.Message) {
	id, err := mcpwire.IDParam(m, "requestId")
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.running[string(m.Bytes(id))]; err == nil && cancel != nil {
		cancel()
	}
}

// calcTools returns the tools of a small calculator.
func calcTools() map[string]run {
	operation := func(compute func(a, b float64) float64) run {
		return func(a args) (outcome, error) {
			result := compute(a.number("a"), a.number("b"))
			if math.IsInf(result, 0) {
				return outcome{}, errors.New("the result is too large")
			}
			return text("%s", strconv.FormatFloat(result, 'g', -1, 64)), nil
		}
	}
	divide := operation(func(a, b float64) float64 { return a / b })
	return map[string]run{
		"add":      operation(func(a, b float64) float64 { return a + b }),
		"multiply": operation(func(a, b float64) float64 { return a * b }),
		"divide": func(a args) (outcome, error) {
			if a.number("b") == 0 {
				return outcome{}, errors.New("division by zero: b must not be 0")
			}
			return divide(a)
		},
		"crash": func(args) (outcome, error) { return outcome{}, ErrCrash },
	}
}
