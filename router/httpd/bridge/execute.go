package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"toolman/jsonrpc"
	"toolman/mcpwire/sanitize"
	"toolman/router/budget"
	"toolman/router/httpd/bridge/provider"
)

const (
	maxCalls = 128 // in one request
	atOnce   = 16  // of them under way
)

// An execution is the answer to POST /execute.
type execution struct {
	Results     []json.RawMessage `json:"tool_results"`
	Correlation string            `json:"correlation_id"`
}

// execute serves POST /execute: calls as a model has made them, at once, to results as the
// model's provider takes them. What goes wrong with one call is its result.
func (b *Bridge) execute(w http.ResponseWriter, r *http.Request) {
	who, done, f := b.admit(r)
	if f != nil {
		writeFailure(w, f, correlationOf(r, ""))
		return
	}
	defer done()
	in := b.in(w, r, who)
	defer in.Close()
	format, calls, correlation, f := b.executeRequest(r, in)
	w.Header().Set(headerCorrelation, correlation)
	b.o.Correlate(r, correlation)
	if f != nil {
		writeFailure(w, f, correlation)
		return
	}
	s, f := b.enter(r.Context(), who)
	if f != nil {
		writeFailure(w, f, correlation)
		return
	}
	defer b.leave(s)
	named := s.named()
	results := make([]json.RawMessage, len(calls))
	slots := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i, text := range calls {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			results[i] = b.executeOne(r.Context(), s, in, named, format, text, fmt.Sprintf("%s.%d", correlation, i+1))
		})
	}
	all.Wait()
	writeJSON(w, http.StatusOK, execution{results, correlation}, in)
}

func (b *Bridge) executeRequest(r *http.Request, in *budget.Reader) (format provider.Format, calls []json.RawMessage, correlation string, f *Failure) {
	correlation = correlationOf(r, "")
	p, f := b.read(r, in, "provider", "tool_calls", "correlation_id")
	if f != nil {
		return "", nil, correlation, f
	}
	said, f := p.text("correlation_id")
	if correlation = correlationOf(r, said); f != nil {
		return "", nil, correlation, f
	}
	name, f := p.text("provider")
	if f != nil {
		return "", nil, correlation, f
	}
	format, err := provider.ParseFormat(name)
	if err != nil {
		return "", nil, correlation, fail(BadRequest, "provider: "+err.Error())
	}
	at := p.members["tool_calls"]
	if !at.Present() || p.m.Frame[at.Lo] != '[' {
		return "", nil, correlation, fail(BadRequest, "tool_calls has to be an array of what the model has called")
	}
	for one := range jsonrpc.Elements(p.m.Frame, at) {
		if !p.m.IsObject(one) {
			return "", nil, correlation, fail(BadRequest, fmt.Sprintf("tool_calls has to have objects, and %d is none", len(calls)))
		}
		calls = append(calls, p.m.Bytes(one))
	}
	if len(calls) > maxCalls {
		return "", nil, correlation, fail(BadRequest, fmt.Sprintf("tool_calls may have %d calls", maxCalls))
	}
	return format, calls, correlation, nil
}

// A place is where a tool is, and the schema of its arguments.
type place struct {
	server, tool string
	schema       json.RawMessage
}

// named are the tools by the names that models know, also those that the session may not
// have: calls of these are refused. The first has a name.
func (s *session) named() map[string]place {
	all := map[string]place{}
	for _, e := range s.router.Known() {
		name := provider.Name(e.Source.Name, e.Item.Name)
		if _, taken := all[name]; !taken {
			all[name] = place{e.Source.Name, e.Item.Name, schemaOf(e)}
		}
	}
	return all
}

// executeOne makes one call and returns its result in the provider's form.
func (b *Bridge) executeOne(ctx context.Context, s *session, in *budget.Reader, named map[string]place, format provider.Format, text json.RawMessage, correlation string) json.RawMessage {
	c, err := provider.ParseCall(format, text)
	if err != nil {
		return failedCall(&c, fail(InvalidArguments, err.Error()))
	}
	at, known := named[c.Name]
	if !known {
		return failedCall(&c, fail(UnknownTool, fmt.Sprintf("there is no tool %s; GET /tools lists those there are", sanitize.Cut(c.Name, maxShown))))
	}
	c.Restore(at.schema)
	q := request{server: at.server, tool: at.tool, arguments: c.Arguments, correlation: correlation, kept: in}
	result, f := b.run(ctx, s, q)
	b.log(s, &q, result, f)
	if f != nil {
		return failedCall(&c, f)
	}
	out, err := c.Result(result)
	if err != nil {
		return failedCall(&c, fail(UpstreamError, err.Error()))
	}
	return out
}

// run makes a call and waits for its end.
func (b *Bridge) run(ctx context.Context, s *session, q request) ([]byte, *Failure) {
	c, f := b.call(s, q)
	if f != nil {
		return nil, f
	}
	return s.finish(ctx, c)
}

// finish waits for the end of a request.
func (s *session) finish(ctx context.Context, c *call) ([]byte, *Failure) {
	if !c.wait(ctx) {
		s.cancel(c)
		return nil, gone(ctx)
	}
	return c.result, c.outcome()
}

// failedCall is a failure as the model is told.
func failedCall(c *provider.Call, f *Failure) json.RawMessage {
	out, err := c.Failure(string(f.Code) + ": " + f.Message)
	if err != nil {
		return json.RawMessage("null")
	}
	return out
}
