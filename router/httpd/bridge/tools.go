package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"toolman/mcpwire/jsonschema"
	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/catalog"
	"toolman/router/httpd/bridge/provider"
)

// listTools serves /tools. POST starts the servers that run for this caller alone. GET does not,
// because any web page can make a browser send a GET.
func (x *exchange) listTools() error {
	q := x.r.URL.Query()
	shape, err := shapeOf(q)
	if err != nil {
		return err
	}
	if q.Has("view") {
		if x.o.Status == nil || q.Get("view") != "status" {
			return fail(BadRequest, "there is no such view; use ?view=status")
		}
		writeJSON(x.w, http.StatusOK, x.o.Status(x.r), nil)
		return nil
	}
	if err := x.admit(); err != nil {
		return err
	}
	session := x.Bridge.session
	if x.r.Method != http.MethodPost {
		session = x.view
	}
	s, err := session(x.r.Context(), &x.caller)
	if err != nil {
		return err
	}
	defer s.Release()
	all, err := x.tools(s, q.Get("server"))
	if err == nil {
		err = x.writeTools(all, shape)
	}
	if err != nil && failureFor(err).Code == WrongMethod {
		x.w.Header().Set("Allow", http.MethodPost)
	}
	return err
}

// writeTools writes tools in a shape.
func (x *exchange) writeTools(all []router.Tool, shape Shape) error {
	text, saved, err := List(all, shape)
	if err != nil {
		return fail(Internal, err.Error())
	}
	h := x.w.Header()
	if shape.Slim != provider.Whole {
		h.Set("X-Slim-Saved-Bytes", strconv.Itoa(saved))
		h.Set("X-Slim-Saved-Tokens", strconv.Itoa(catalog.Tokens(saved)))
	}
	if most := provider.Most(shape.Format); most > 0 && len(all) > most {
		h.Set("X-Tools-Limit", strconv.Itoa(most))
	}
	writeText(x.w, http.StatusOK, text, x.kept)
	return nil
}

// shapeOf reads the shape from a query.
func shapeOf(q url.Values) (shape Shape, err error) {
	if q.Has("format") {
		if shape.Format, err = provider.ParseFormat(q.Get("format")); err != nil {
			return shape, fail(BadRequest, err.Error())
		}
	}
	if q.Has("slim") {
		if shape.Slim, err = provider.ParseLevel(q.Get("slim")); err != nil {
			return shape, fail(BadRequest, err.Error())
		}
	}
	return shape, nil
}

// tools returns the tools that the session may use, of all servers if server is "". With
// Options.ActiveOnly these are the active ones.
func (b *Bridge) tools(s *session, server string) ([]router.Tool, error) {
	if err := s.notStarted(server); err != nil {
		return nil, err
	}
	var of []router.Tool
	for _, t := range s.Router.Tools() {
		if (server == "" || t.Source.HasName(server)) && (t.Active || !b.o.ActiveOnly) {
			of = append(of, t)
		}
	}
	if len(of) == 0 && server != "" {
		return nil, unavailable(s, server)
	}
	return of, nil
}

// A Shape is a form of the list of tools. The zero value is the bridge's own form.
type Shape struct {
	Format provider.Format // "": the bridge's own
	Slim   provider.Level  // how much is left out
}

// List returns tools as JSON, and the number of bytes that Slim has saved.
func List(tools []router.Tool, as Shape) (text []byte, saved int, err error) {
	text, err = as.list(tools)
	if err != nil || as.Slim == provider.Whole {
		return text, 0, err
	}
	whole, err := Shape{Format: as.Format}.list(tools)
	return text, len(whole) - len(text), err
}

// A tool is an element of the response to GET /tools.
type tool struct {
	Server      string          `json:"server"`
	Tool        string          `json:"tool"` // the server's name for it
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"json_schema"` // inputSchema, as the server wrote it
	Active      bool            `json:"active"`      // initially, for MCP clients of the same agent
	Toolsets    []string        `json:"toolsets"`
}

func (as Shape) list(tools []router.Tool) ([]byte, error) {
	var forModels []provider.Tool
	listed := []tool{}
	for _, t := range tools {
		name := provider.Name(t.Source.Name, t.Item.Name)
		one := provider.Tool{Name: name, Description: t.Item.Description, Schema: schemaOf(t.Entry),
			Raw: json.RawMessage(t.AppendNamed(nil, name))}
		one = one.Slim(as.Slim)
		if as.Format == provider.MCP || !t.App.HiddenFromModel() {
			forModels = append(forModels, one)
		}
		listed = append(listed, tool{t.Source.Name, t.Item.Name, one.Description, one.Schema, t.Active, append([]string{}, t.Toolsets...)})
	}
	if as.Format == "" {
		return encode(listed)
	}
	return provider.Tools(as.Format, forModels)
}

// schemaOf returns the inputSchema of a tool, or one that allows any object if there is none.
func schemaOf(e *catalog.Entry) json.RawMessage {
	if schema := e.InputSchema(); bytes.HasPrefix(schema, []byte("{")) {
		return schema
	}
	return json.RawMessage(`{"type":"object"}`)
}

const (
	maxSchemas  = 4096 // in the cache
	maxProblems = 20   // in a response
)

// schemas are a cache of compiled input schemas. The zero value is ready to use.
type schemas struct {
	mu       sync.Mutex
	compiled map[*catalog.Entry]func() *jsonschema.Schema // guarded by mu
}

// check validates arguments against the schema of a tool. If that cannot be used, the server has to
// validate them.
func (x *schemas) check(e *catalog.Entry, arguments []byte) error {
	schema := x.of(e)
	if schema == nil {
		return nil
	}
	problems := schema.Check(arguments)
	if len(problems) == 0 {
		return nil
	}
	listed := problems[:min(len(problems), maxProblems)]
	for i, p := range listed {
		listed[i] = jsonschema.Problem{Path: sanitize.Cut(p.Path, maxShown), Message: sanitize.Cut(p.Message, maxShown)}
	}
	f := fail(InvalidArguments, fmt.Sprintf("the arguments do not match the inputSchema of tool %s: %s", e.Item.Name, listed[0]))
	if more := len(problems) - 1; more > 0 {
		f.Message += fmt.Sprintf(" (and %d more)", more)
	}
	f.Details = map[string]any{"errors": listed}
	return f
}

// of returns the compiled schema of a tool; nil if it cannot be used.
func (x *schemas) of(e *catalog.Entry) *jsonschema.Schema {
	x.mu.Lock()
	compiled := x.compiled[e]
	if compiled == nil {
		if x.compiled == nil || len(x.compiled) >= maxSchemas { // entries of old lists are never removed one by one
			x.compiled = map[*catalog.Entry]func() *jsonschema.Schema{}
		}
		compiled = sync.OnceValue(func() *jsonschema.Schema {
			schema, _ := jsonschema.Compile(e.InputSchema())
			return schema
		})
		x.compiled[e] = compiled
	}
	x.mu.Unlock()
	return compiled()
}
