package demoserver

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
)

// maxLine is the longest message a server takes.
const maxLine = 4 << 20

// The codes of JSON-RPC and MCP for what a client did wrong.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeNotFound       = -32002 // a resource; up to revision 2025-11-25
)

// A message is what comes in. A notification has no ID.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// An rpcError is a request's answer when there is no result.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

// A reply is a response with a result, a failure one with an error.
type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
}

type failure struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *rpcError       `json:"error"`
}

type notification struct {
	Version string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

// A writer writes messages, each whole, from any goroutine.
type writer struct {
	mu  sync.Mutex
	out io.Writer
}

// send writes one message. A client that is gone is noticed where the server reads.
func (w *writer) send(m any) {
	var line bytes.Buffer
	enc := json.NewEncoder(&line) // it ends the line, too
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		panic(err) // every message is made here, of types that encode
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = w.out.Write(line.Bytes())
}

func (w *writer) notify(method string, params any) {
	w.send(notification{"2.0", method, params})
}

func (w *writer) result(id json.RawMessage, result any) {
	w.send(reply{"2.0", id, result})
}

func (w *writer) failure(id json.RawMessage, err *rpcError) {
	w.send(failure{"2.0", id, err})
}
