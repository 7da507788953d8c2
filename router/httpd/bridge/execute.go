package bridge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
	"toolman/router/httpd/bridge/provider"
)

const (
	maxCalls   = 128 // in a request
	concurrent = 16  // calls of a request at the same time
)

// An execution is the answer to POST /execute.
type execution struct {
	Results     []json.RawMessage `json:"tool_results"`
	Correlation string            `json:"correlation_id"`
}

// execute serves POST /execute. It makes the calls of a model concurrently, and answers with the
// results in the format of the model's provider. The failure of a call is its result.
func (x *exchange) execute() error {
	if err := x.admit(); err != nil {
		return err
	}
	format, calls, err := x.modelCalls()
	if err != nil {
		return err
	}
	s, err := x.session(x.r.Context(), &x.caller)
	if err != nil {
		return err
	}
	defer s.Release()
	tools := s.byModelName()
	results := make([]json.RawMessage, len(calls))
	slots := make(chan struct{}, concurrent)
	var all sync.WaitGroup
	for i, text := range calls {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			results[i] = x.executeOne(s, tools, format, text, fmt.Sprintf("%s.%d", x.correlation, i+1))
		})
	}
	all.Wait()
	writeJSON(x.w, http.StatusOK, execution{results, x.correlation}, x.kept)
	return nil
}

// modelCalls reads the request.
func (x *exchange) modelCalls() (format provider.Format, calls []json.RawMessage, err error) {
	p, err := x.read("provider", "tool_calls")
	if err != nil {
		return "", nil, err
	}
	name, err := p.text("provider")
	if err != nil {
		return "", nil, err
	}
	if format, err = provider.ParseFormat(name); err != nil {
		return "", nil, fail(BadRequest, "provider: "+err.Error())
	}
	at := p.members["tool_calls"]
	if !at.Present() || p.m.Frame[at.Lo] != '[' {
		return "", nil, fail(BadRequest, "tool_calls must be an array of the model's tool calls")
	}
	for one := range jsonrpc.Elements(p.m.Frame, at) {
		if !p.m.IsObject(one) {
			return "", nil, fail(BadRequest, fmt.Sprintf("tool_calls must contain objects, and element %d is not one", len(calls)))
		}
		calls = append(calls, p.m.Bytes(one))
	}
	if len(calls) > maxCalls {
		return "", nil, fail(BadRequest, fmt.Sprintf("tool_calls can have at most %d calls", maxCalls))
	}
	return format, calls, nil
}

// byModelName returns the tools by their names for models. It includes tools that the session may
// not use: their calls are refused. If two have the same name, the first counts.
func (s *session) byModelName() map[string]*catalog.Entry {
	all := map[string]*catalog.Entry{}
	for _, e := range s.Router.Known() {
		name := provider.Name(e.Source.Name, e.Item.Name)
		if all[name] == nil {
			all[name] = e
		}
	}
	return all
}

// executeOne makes one call and returns its result in the provider's format.
func (x *exchange) executeOne(s *session, tools map[string]*catalog.Entry, format provider.Format, text json.RawMessage, correlation string) json.RawMessage {
	c, err := provider.ParseCall(format, text)
	if err != nil {
		return failedCall(&c, fail(InvalidArguments, err.Error()))
	}
	e := tools[c.Name]
	if e == nil {
		unknown := fail(UnknownTool, fmt.Sprintf("there is no tool %s; GET /tools lists those there are", sanitize.Cut(c.Name, maxShown)))
		x.log(s, &toolCall{tool: c.Name, arguments: c.Arguments, correlation: correlation, began: time.Now()}, nil, unknown)
		return failedCall(&c, unknown)
	}
	c.Restore(schemaOf(e))
	q := toolCall{server: e.Source.Name, tool: e.Item.Name, arguments: c.Arguments, correlation: correlation, kept: x.kept, began: time.Now()}
	result, err := x.run(x.r.Context(), s, &q)
	x.log(s, &q, result, err)
	if err != nil {
		return failedCall(&c, err)
	}
	out, err := c.Result(result)
	if err != nil {
		return failedCall(&c, fail(UpstreamError, err.Error()))
	}
	return out
}

// failedCall returns a failure as the result of a call, for the model.
func failedCall(c *provider.Call, err error) json.RawMessage {
	f := failureFor(err)
	return c.Failure(string(f.Code) + ": " + f.Message)
}
