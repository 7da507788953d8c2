package demo

import (
	"context"
	"fmt"
	"strconv"

	"toolman/jsonrpc/trace"
)

// A conversation is a client's with its gateway, and the screen it is shown on.
type conversation struct {
	*screen
	client *client
	trace  *tail
}

func (c *conversation) play(ctx context.Context) error {
	for i, s := range script() {
		c.headline(i+1, s.title)
		if err := s.play(c, ctx); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

// call sends a request, waits for its answer and shows what has been on the wire until then. A JSON-RPC error is an error.
func (c *conversation) call(ctx context.Context, v view, method, params string) (*result, error) {
	a, err := c.client.call(ctx, method, params)
	if err != nil {
		return nil, err
	}
	id := strconv.Itoa(a.ID)
	err = c.show(ctx, v, func(r *trace.Record) bool {
		return r.Leg == trace.Client && r.Dir == trace.Out && r.Kind == trace.Response && string(r.ID) == id
	})
	if err == nil && a.Error != nil {
		err = fmt.Errorf("%s was answered with the error %q", method, a.Error.Message)
	}
	return &a.Result, err
}

// callTool calls a tool with raw arguments.
func (c *conversation) callTool(ctx context.Context, v view, name, arguments string) (*result, error) {
	return c.call(ctx, v, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))
}

// show shows a view of the trace up to a record.
func (c *conversation) show(ctx context.Context, v view, last func(*trace.Record) bool) error {
	for {
		r, err := c.trace.record(ctx)
		if err != nil {
			return fmt.Errorf("reading the trace: %w", err)
		}
		if v(r) {
			if err := c.wire(r); err != nil {
				return err
			}
		}
		if last(r) {
			return nil
		}
	}
}

// A view chooses what is shown of the trace. How the servers start is never shown, which they do in no fixed order.
type view func(*trace.Record) bool

// clientLeg is what the client takes part in, but for its lists.
func clientLeg(r *trace.Record) bool {
	if r.Leg != trace.Client {
		return r.Event == trace.EventGone
	}
	return r.Method != "notifications/initialized" && r.Method != "tools/list"
}

// bothLegs is that, the lists, and what toolman has servers do for the client.
func bothLegs(r *trace.Record) bool {
	switch r.Method {
	case "tools/list":
		return r.Leg == trace.Client
	case "tools/call", "resources/read", "prompts/get":
		return true
	}
	return clientLeg(r)
}
