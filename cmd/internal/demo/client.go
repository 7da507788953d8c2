package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"toolman/cmd/internal/traces/files"
	"toolman/jsonrpc/trace"
)

const (
	maxLine   = 4 << 20              // bytes of an answer
	endTime   = 30 * time.Second     // for an orderly end of the gateway
	abortTime = time.Second          // for its end after an error
	tracePoll = 2 * time.Millisecond // how often the trace is read
)

// A client is an MCP client of a gateway that runs as a process of its own, and the screen on which
// the messages are shown. Like real clients it lists the tools again when they have changed.
type client struct {
	*screen
	ctx   context.Context
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner // the gateway's output
	ended bool

	record func() (*trace.Record, error, bool) // reads the trace
	stop   func()                              // stops reading it

	lastID  int
	relist  int    // ID of the tools/list after a change, 0 if none is under way
	changes int    // how often the tools have changed and were listed again
	tools   []tool // the last list
}

type tool struct{ Name, Description string }

// A message is one from the gateway.
type message struct {
	ID     int
	Method string
	Result result
	Error  *struct{ Message string }
}

// A result has what the demo checks in the results of all methods.
type result struct {
	ProtocolVersion   string
	Tools             []tool
	Content           []struct{ Text string }
	Contents          []struct{ Text string }
	Messages          []struct{ Content struct{ Text string } }
	IsError           bool
	StructuredContent struct{ Error string }
}

// text returns the text of a tool's result.
func (r *result) text() string {
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

// startClient starts a gateway, which ends with ctx.
func startClient(ctx context.Context, s *screen, program, config, tracePath string, log *os.File) (*client, error) {
	c := &client{screen: s, ctx: ctx, cmd: exec.CommandContext(ctx, program, "--config", config, "--trace", tracePath)}
	c.cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(config, "none")) // a file has no folders: the demo leaves nothing in a cache
	c.cmd.Stderr = log
	c.cmd.Cancel = func() error { return c.stdin.Close() } // the gateway then ends by itself
	c.cmd.WaitDelay = abortTime
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.lines = bufio.NewScanner(stdout)
	c.lines.Buffer(nil, maxLine)
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	switch err := c.cmd.Start(); {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("starting the gateway: %w", err)
	}
	lines := files.Follow(ctx, tracePath, tracePoll)
	var stop func()
	c.record, stop = iter.Pull2(trace.Read(lines))
	c.stop = func() { stop(); lines.Close() }
	return c, nil
}

// end closes the connection and waits for the gateway to end; it kills a gateway that takes too
// long. Only the first call does anything.
func (c *client) end(within time.Duration) error {
	if c.ended {
		return nil
	}
	c.ended = true
	c.stdin.Close()
	timer := time.AfterFunc(within, func() { _ = c.cmd.Process.Kill() }) // it may have ended just now
	for c.lines.Scan() {
	}
	err := c.cmd.Wait()
	switch {
	case !timer.Stop():
		return fmt.Errorf("the gateway did not end within %v of its client's leaving", within)
	case err != nil:
		return fmt.Errorf("the gateway ended with %w", err)
	}
	return nil
}

// send sends a message. params are JSON, or "" for none; id is 0 for a notification. next reports a
// gateway that is gone.
func (c *client) send(id int, method, params string) {
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q`, id, method)
	if id == 0 {
		line = fmt.Sprintf(`{"jsonrpc":"2.0","method":%q`, method)
	}
	if params != "" {
		line += `,"params":` + params
	}
	_, _ = io.WriteString(c.stdin, line+"}\n")
}

// request sends a request and returns its ID.
func (c *client) request(method, params string) (id int) {
	c.lastID++
	c.send(c.lastID, method, params)
	return c.lastID
}

// next receives the next message.
func (c *client) next() (*message, error) {
	switch ok := c.lines.Scan(); {
	case c.ctx.Err() != nil:
		return nil, context.Cause(c.ctx)
	case !ok:
		return nil, errors.New("the gateway has closed the connection")
	}
	var m message
	if err := json.Unmarshal(c.lines.Bytes(), &m); err != nil {
		return nil, fmt.Errorf("the gateway wrote %s: %w", cut(c.lines.Text(), 80), err)
	}
	switch {
	case m.Method == "notifications/tools/list_changed":
		c.relist = c.request("tools/list", "")
	case m.Method == "" && m.Result.Tools != nil:
		c.tools = m.Result.Tools
		if m.ID == c.relist {
			c.changes++
		}
	}
	return &m, nil
}

// awaitChange waits until the tools have been listed again after their n-th change.
func (c *client) awaitChange(n int) error {
	for c.changes < n {
		if _, err := c.next(); err != nil {
			return fmt.Errorf("waiting for the list of tools to change: %w", err)
		}
	}
	return nil
}

// call sends a request, waits for its answer and shows all messages until then. A JSON-RPC error is
// an error.
func (c *client) call(v view, method, params string) (*result, error) {
	id := c.request(method, params)
	m, err := c.next()
	for err == nil && (m.Method != "" || m.ID != id) {
		m, err = c.next()
	}
	if err != nil {
		return nil, fmt.Errorf("waiting for the answer to %s: %w", method, err)
	}
	err = c.show(v, func(r *trace.Record) bool {
		return r.Leg == trace.Client && r.Dir == trace.Out && r.Kind == trace.Response && string(r.ID) == strconv.Itoa(id)
	})
	if err == nil && m.Error != nil {
		err = fmt.Errorf("%s was answered with the error %q", method, m.Error.Message)
	}
	return &m.Result, err
}

// callTool calls a tool with arguments in JSON.
func (c *client) callTool(v view, name, arguments string) (*result, error) {
	return c.call(v, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))
}

// show shows a view of the trace up to a record.
func (c *client) show(v view, last func(*trace.Record) bool) error {
	for {
		r, err, more := c.record()
		if !more {
			err = context.Cause(c.ctx)
		}
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

// A view selects the records of the trace to show. The start of the servers, which has no fixed
// order, is in no view.
type view func(*trace.Record) bool

// clientLeg shows the client's messages, except lists.
func clientLeg(r *trace.Record) bool {
	if r.Leg != trace.Client {
		return r.Event == trace.EventGone
	}
	return r.Method != "notifications/initialized" && r.Method != "tools/list"
}

// bothLegs also shows lists, and the requests that toolman sends to servers for the client.
func bothLegs(r *trace.Record) bool {
	switch r.Method {
	case "tools/list":
		return r.Leg == trace.Client
	case "tools/call", "resources/read", "prompts/get":
		return true
	}
	return clientLeg(r)
}
