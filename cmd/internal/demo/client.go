package demo

import (
	"context"
	"encoding/json"
	"fmt"
)

// A client is an MCP client on a gateway. As real ones do it lists the tools again whenever they have changed.
type client struct {
	gateway *gateway
	lastID  int
	relist  int    // id of the tools/list under way, 0 if none is
	changes int    // how often the tools have changed and were listed again
	tools   []tool // the last list
}

type tool struct{ Name, Description string }

// An answer is a message that came.
type answer struct {
	ID     int
	Method string
	Result result
	Error  *struct{ Message string }
}

// result has what the demo looks at in the results of all methods.
type result struct {
	ProtocolVersion   string
	Tools             []tool
	Content           []struct{ Text string }
	Contents          []struct{ Text string }
	Messages          []struct{ Content struct{ Text string } }
	IsError           bool
	StructuredContent struct{ Error string }
}

// text is what a tool says.
func (r *result) text() string {
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

// notify sends a notification.
func (c *client) notify(method string) error {
	return c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, method))
}

// request sends a request with raw params, "" for none, and returns its id.
func (c *client) request(method, params string) (id int, err error) {
	c.lastID++
	if params != "" {
		params = `,"params":` + params
	}
	return c.lastID, c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q%s}`, c.lastID, method, params))
}

func (c *client) send(line string) error {
	if _, err := c.gateway.stdin.Write([]byte(line + "\n")); err != nil {
		return fmt.Errorf("writing to the gateway: %w", err)
	}
	return nil
}

// call sends a request and waits for its answer.
func (c *client) call(ctx context.Context, method, params string) (*answer, error) {
	id, err := c.request(method, params)
	if err != nil {
		return nil, err
	}
	for {
		a, err := c.next(ctx)
		if err != nil {
			return nil, fmt.Errorf("waiting for the answer to %s: %w", method, err)
		}
		if a.Method == "" && a.ID == id {
			return a, nil
		}
	}
}

// awaitChange waits until the tools have been listed again after their n-th change since the beginning.
func (c *client) awaitChange(ctx context.Context, n int) error {
	for c.changes < n {
		if _, err := c.next(ctx); err != nil {
			return fmt.Errorf("waiting for the list of tools to change: %w", err)
		}
	}
	return nil
}

// next takes the next message in.
func (c *client) next(ctx context.Context) (*answer, error) {
	line, err := c.gateway.line(ctx)
	if err != nil {
		return nil, err
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return nil, fmt.Errorf("the gateway wrote %s: %w", cut(string(line), 80), err)
	}
	switch {
	case a.Method == "notifications/tools/list_changed":
		c.relist, err = c.request("tools/list", "")
	case a.Method == "" && a.Result.Tools != nil:
		c.tools = a.Result.Tools
		if a.ID == c.relist {
			c.changes++
		}
	}
	return &a, err
}
