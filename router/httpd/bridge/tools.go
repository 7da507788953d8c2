package bridge

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"toolman/router"
	"toolman/router/budget"
	"toolman/router/catalog"
	"toolman/router/httpd/bridge/provider"
)

// A tool is one that GET /tools lists.
type tool struct {
	Server      string          `json:"server"`
	Tool        string          `json:"tool"` // by its server's name
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"json_schema"` // of the arguments, as the server wrote it
	Active      bool            `json:"active"`      // as MCP clients of the same agent have it at first
	Toolsets    []string        `json:"toolsets"`
}

// listTools serves /tools. POST starts the servers that the caller has to itself; GET shows what
// there is without, because any web page can have a browser send a GET.
func (b *Bridge) listTools(w http.ResponseWriter, r *http.Request) {
	correlation, q := correlationOf(r, ""), r.URL.Query()
	shape, f := shapeOf(q)
	switch {
	case f != nil:
		writeFailure(w, f, correlation)
		return
	case q.Has("view"):
		b.viewTools(w, r)
		return
	}
	who, done, f := b.admit(r)
	if f != nil {
		writeFailure(w, f, correlation)
		return
	}
	defer done()
	enter := b.enter
	if r.Method != http.MethodPost {
		enter = b.look
	}
	s, f := enter(r.Context(), who)
	if f != nil {
		writeFailure(w, f, correlation)
		return
	}
	defer b.leave(s)
	all, f := b.toolsOf(s, q.Get("server"))
	if f == nil {
		kept := who.Client.Account.Reader(nil)
		defer kept.Close()
		f = writeTools(w, all, shape, kept)
	}
	if f != nil {
		if f.Code == WrongMethod {
			w.Header().Set("Allow", http.MethodPost)
		}
		writeFailure(w, f, correlation)
	}
}

// viewTools serves another view of the tools than the list.
func (b *Bridge) viewTools(w http.ResponseWriter, r *http.Request) {
	if b.o.Status == nil || r.URL.Query().Get("view") != "status" {
		writeFailure(w, fail(BadRequest, "there is no such view; ?view=status is one"), correlationOf(r, ""))
		return
	}
	writeJSON(w, http.StatusOK, b.o.Status(r), nil)
}

// writeTools writes tools in a shape.
func writeTools(w http.ResponseWriter, all []router.Tool, shape Shape, kept *budget.Reader) *Failure {
	text, saved, err := List(all, shape)
	if err != nil {
		return fail(Internal, err.Error())
	}
	if shape.Slim {
		w.Header().Set("X-Slim-Saved-Bytes", strconv.Itoa(saved))
		w.Header().Set("X-Slim-Saved-Tokens", strconv.Itoa(Tokens(saved)))
	}
	if most := provider.Most(shape.Format); most > 0 && len(all) > most {
		w.Header().Set("X-Tools-Limit", strconv.Itoa(most))
	}
	writeText(w, http.StatusOK, text, kept)
	return nil
}

// shapeOf reads how the tools are wanted.
func shapeOf(q url.Values) (shape Shape, f *Failure) {
	var err error
	if q.Has("format") {
		if shape.Format, err = provider.ParseFormat(q.Get("format")); err != nil {
			return shape, fail(BadRequest, err.Error())
		}
	}
	if slim := q.Get("slim"); q.Has("slim") {
		if shape.Slim = slim == "true"; !shape.Slim && slim != "false" {
			return shape, fail(BadRequest, "slim is true or false")
		}
	}
	return shape, nil
}

// toolsOf are the tools that the session may have, of one server if that is named. With
// Options.ActiveOnly these are the active ones.
func (b *Bridge) toolsOf(s *session, server string) ([]router.Tool, *Failure) {
	if f := s.unstarted(server); f != nil {
		return nil, f
	}
	var of []router.Tool
	for _, t := range s.router.Tools() {
		if (server == "" || t.Source.HasName(server)) && (t.Active || !b.o.ActiveOnly) {
			of = append(of, t)
		}
	}
	if len(of) == 0 && server != "" {
		return nil, absent(s, server)
	}
	return of, nil
}

// anything is the schema of a tool that has none.
var anything = json.RawMessage(`{"type":"object"}`)

func described(t router.Tool) tool {
	d := tool{Server: t.Source.Name, Tool: t.Item.Name, Description: t.Item.Description, Schema: schemaOf(t.Entry), Active: t.Active, Toolsets: t.Toolsets}
	if d.Toolsets == nil {
		d.Toolsets = []string{}
	}
	return d
}

// schemaOf is what a tool's server has written, if that is an object.
func schemaOf(e *catalog.Entry) json.RawMessage {
	if schema := e.InputSchema(); bytes.HasPrefix(schema, []byte("{")) {
		return schema
	}
	return anything
}
