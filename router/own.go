package router

import (
	"bytes"
	"errors"
	"strconv"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

const instructions = "toolman serves the tools, resources and prompts of several MCP servers, each under the name of its server " +
	"(such as fs_read_file; the servers' own texts use the names without it). Only some are active. The description of the tool " +
	ActivateTool + " lists all of them, active ones with a *; call it to switch on what a task needs, and to switch off what it " +
	"no longer needs. The resource " + CatalogURI + " holds the same list."

// initializeLocked answers the client at once. The upstreams are started by now,
// and learn who the client is and what it can do.
func (s *Session) initializeLocked(m *jsonrpc.Message, b *jsonrpc.Batch) {
	if s.hello != nil && s.hello.Version != "" {
		s.refuse(m, b, mcpwire.Initialize, refusal{code: jsonrpc.CodeInvalidRequest, text: "initialize was answered already; start a new connection to begin again"})
		return
	}
	hello, err := mcpwire.ParseHello(m)
	if err == nil && hello.Version == "" {
		err = &jsonrpc.FormError{What: "params.protocolVersion is missing"}
	}
	if err != nil {
		s.refuse(m, b, mcpwire.Initialize, refusal{code: jsonrpc.CodeInvalidParams, text: err.Error()})
		return
	}
	s.hello = &hello
	if name := clean(cut(hello.Name, nameLimit)); name != "" {
		s.r.clientName.Store(&name)
	}
	version := mcpwire.Negotiate(hello.Version)
	s.answerOwn(m, b, mcpwire.Initialize, mcpwire.AppendInitializeResult(nil, version, s.r.Version, instructions))
	s.log.Info("client connected", zap.String("session", clean(hello.Name+" "+hello.NameVersion)), zap.String("revision", version))
	s.r.greet(hello)
}

var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// setLevelLocked keeps the level for servers that are still starting and passes
// it on to the others.
func (s *Session) setLevelLocked(m *jsonrpc.Message, b *jsonrpc.Batch) {
	level, err := m.Param("level")
	if err == nil {
		err = checkLevel(m.Text(level))
	}
	if err != nil {
		s.refuse(m, b, mcpwire.SetLevel, refusal{code: jsonrpc.CodeInvalidParams, text: err.Error()})
		return
	}
	s.level = bytes.Clone(m.Bytes(m.Params))
	s.answerOwn(m, b, mcpwire.SetLevel, []byte("{}"))
	for _, u := range s.r.upstreams {
		u.setLevel(s.level, b)
	}
}

func checkLevel(level []byte) error {
	for _, known := range levels {
		if known == string(level) {
			return nil
		}
	}
	return &levelError{string(level)}
}

type levelError struct{ got string }

func (e *levelError) Error() string {
	return "unknown log level " + strconv.Quote(clean(cut(e.got, nameLimit))) + "; use debug, info, notice, warning, error, critical, alert or emergency"
}

// listBytes bounds one page of a list. The TypeScript SDK gives up on a message
// of 10 MiB.
const listBytes = 8 << 20

// listLocked answers a list request from what is cached.
func (s *Session) listLocked(m *jsonrpc.Message, b *jsonrpc.Batch, k mcpwire.Kind) {
	items := s.elements(k)
	from, err := s.cursor(m, len(items))
	if err != nil {
		s.refuse(m, b, k.ListMethod(), refusal{code: jsonrpc.CodeInvalidParams, text: err.Error()})
		return
	}
	size, to := 0, from
	for to < len(items) && (to == from || size+len(items[to]) < listBytes) {
		size += len(items[to])
		to++
	}
	next := ""
	if to < len(items) {
		next = strconv.Itoa(to)
	}
	result := make([]byte, 0, size+to-from+256)
	s.answerOwn(m, b, k.ListMethod(), mcpwire.AppendList(result, k, items[from:to], next))
	if k == mcpwire.Tool && next == "" {
		s.listedLocked()
	}
}

// elements returns the elements of a list as JSON.
func (s *Session) elements(k mcpwire.Kind) [][]byte {
	v := s.view.Load()
	active := v.active(k)
	items := make([][]byte, 0, len(active)+1)
	if k == mcpwire.Tool {
		items = append(items, s.activateTool(v))
	}
	for _, e := range active {
		items = append(items, e.listed)
	}
	if k == mcpwire.Resource {
		items = append(items, []byte(catalogResource))
	}
	return items
}

const catalogResource = `{"uri":"` + CatalogURI + `","name":"toolman catalog","title":"All tools and resources, active ones marked with *",` +
	`"description":"Everything that ` + ActivateTool + ` can switch on and off, one line an item.","mimeType":"text/plain"}`

// cursor reads the cursor of a list request: where to go on.
func (s *Session) cursor(m *jsonrpc.Message, n int) (int, error) {
	at, err := m.Param("cursor")
	if err != nil || !at.Present() || string(m.Bytes(at)) == "null" {
		return 0, err
	}
	from, err := strconv.Atoi(string(m.Text(at)))
	if err != nil || from <= 0 || from >= n {
		return 0, errCursor
	}
	return from, nil
}

var errCursor = errors.New("the cursor is not one that toolman gave; list again without a cursor")

// readCatalog answers resources/read of toolman's own resource.
func (s *Session) readCatalog(m *jsonrpc.Message, b *jsonrpc.Batch) {
	result := append([]byte(nil), `{"contents":[{"uri":"`+CatalogURI+`","mimeType":"text/plain","text":"`...)
	result = appendCatalog(result, s.view.Load(), 0)
	s.answerOwn(m, b, mcpwire.ResourcesRead, append(result, `"}]}`...))
}
