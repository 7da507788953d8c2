package bridge

import (
	"context"
	"strconv"
	"sync"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router"
	"toolman/router/budget"
)

// An ask is a request of ours to be made.
type ask struct {
	method      mcpwire.Method
	params      []byte // members, with a comma behind them; nil: none
	correlation string
	progress    bool           // it is wanted
	kept        *budget.Reader // counts what is kept for it; nil: nothing does
}

// frame is the request under an id.
func (a *ask) frame(id string) []byte {
	params := append([]byte{'{'}, a.params...)
	params = append(params, envelope...)
	if a.progress {
		params = append(params, `,"progressToken":`...)
		params = jsonrpc.AppendQuoted(params, id)
	}
	frame := append(make([]byte, 0, len(params)+128), `{"jsonrpc":"2.0","id":`...)
	frame = jsonrpc.AppendQuoted(frame, id)
	frame = append(frame, `,"method":"`+string(a.method)+`","params":`...)
	return append(append(frame, params...), "}}}"...)
}

// envelope is what makes a request one of the modern era: the start of _meta. Who calls
// through the bridge cannot be asked anything.
const envelope = `"_meta":{"` + mcpwire.KeyVersion + `":"` + mcpwire.Newest + `","` + mcpwire.KeyCapabilities + `":{},"` +
	mcpwire.KeyClientInfo + `":{"name":"toolman-bridge","version":"1"}`

// maxProgress is how many messages of progress wait for a client that does not read.
// More are left out: the newest say it all.
const maxProgress = 64

// audited is why toolman has answered a request itself.
type audited = router.Reason

// A call is a request that is open, or has been answered. It is the Sender of what
// belongs to it.
type call struct {
	n        uint64
	id       string // n, and the correlation id behind it
	ask      *ask
	progress chan []byte   // params; nil: it is not wanted
	done     chan struct{} // closed when it is answered

	mu      sync.Mutex
	why     *router.Reason // guarded by mu until done
	result  []byte         // the answer's result; written before done is closed
	failure *Failure       // or this
	over    bool           // guarded by mu
}

func newCall(a *ask, n uint64) *call {
	c := &call{n: n, ask: a, id: strconv.FormatUint(n, 10), done: make(chan struct{})}
	if a.correlation != "" {
		c.id += "-" + a.correlation
	}
	if a.progress {
		c.progress = make(chan []byte, maxProgress)
	}
	return c
}

// end closes the call, the first time.
func (c *call) end(f *Failure) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endLocked(nil, f)
}

func (c *call) endLocked(result []byte, f *Failure) {
	if !c.over {
		c.over, c.result, c.failure = true, result, f
		close(c.done)
	}
}

// wait waits for the answer; false: the client is gone before that.
func (c *call) wait(ctx context.Context) bool {
	select {
	case <-c.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// Queue implements jsonrpc.Sender for what belongs to the call: progress.
func (c *call) Queue(frame []byte, edits []jsonrpc.Edit) error {
	var m jsonrpc.Message
	whole := jsonrpc.AppendSplice(nil, frame, edits...)
	if jsonrpc.Scan(whole, &m) != nil || string(m.Text(m.Method)) != string(mcpwire.Progress) {
		return nil
	}
	params := m.Bytes(m.Params)
	if c.ask.kept.Take(len(params)) != nil {
		return nil
	}
	select {
	case c.progress <- params:
	default:
		c.ask.kept.Give(len(params))
	}
	return nil
}

// Flush implements jsonrpc.Sender.
func (c *call) Flush() {}

// Queue implements jsonrpc.Sender: answers go to the call that they answer. All else is
// for clients that listen.
func (s *session) Queue(frame []byte, edits []jsonrpc.Edit) error {
	var m jsonrpc.Message
	whole := jsonrpc.AppendSplice(make([]byte, 0, len(frame)+64), frame, edits...)
	err := jsonrpc.Scan(whole, &m)
	if !m.HasID() || m.Method.Present() {
		return nil
	}
	c := s.find(m.Bytes(m.ID), true)
	if c == nil {
		return nil // it was taken back meanwhile
	}
	if err != nil { // toolman has added levels to what a server wrote
		c.end(fail(UpstreamError, "the answer cannot be passed on: "+err.Error()))
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.why != nil:
		c.endLocked(nil, failureOf(c.why))
	case m.Err.Present():
		c.endLocked(nil, upstreamError(&m))
	default:
		if err := c.ask.kept.Take(len(whole)); err != nil {
			c.endLocked(nil, fail(UpstreamError, "the server has answered, but "+err.Error()))
			break
		}
		c.endLocked(m.Bytes(m.Result), nil)
	}
	return nil
}

// Flush implements jsonrpc.Sender.
func (s *session) Flush() {}

// During implements router.Streams.
func (s *session) During(id []byte) jsonrpc.Sender {
	if c := s.find(id, false); c != nil && c.progress != nil {
		return c
	}
	return nil
}

// Correlation implements router.Ledger.
func (s *session) Correlation(id []byte) string {
	if c := s.find(id, false); c != nil {
		return c.ask.correlation
	}
	return ""
}

// Because implements router.Ledger.
func (s *session) Because(id []byte, why router.Reason) {
	if c := s.find(id, false); c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.why = &why
	}
}

var (
	_ router.Streams = (*session)(nil)
	_ router.Ledger  = (*session)(nil)
)
