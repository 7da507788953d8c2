package replay

import (
	"encoding/json"
	"maps"
	"strings"

	"toolman/cmd/internal/traces/recording"
	"toolman/jsonrpc"
	"toolman/mcpwire"
)

const (
	mostPages = 100 // of a list that are read
	mostTries = 3   // to read a list that changes meanwhile
)

// tools know which tools only read.
type tools struct {
	recorded map[string]bool // as the recording says
	now      map[string]bool // as the new server says
	asked    bool            // since the server last said that its list changed
}

// learn reads a list of the new server; no result is no list.
func (t *tools) learn(result json.RawMessage) (next json.RawMessage) {
	if result == nil {
		return nil
	}
	if t.now == nil {
		t.now = make(map[string]bool)
	}
	found, next := readOnly(result)
	maps.Copy(t.now, found)
	return next
}

// readOnly reads a page of a list of tools: whether each only reads.
func readOnly(result json.RawMessage) (found map[string]bool, next json.RawMessage) {
	var page struct {
		Tools []struct {
			Name        string
			Annotations struct{ ReadOnlyHint bool }
		}
		NextCursor json.RawMessage
	}
	json.Unmarshal(result, &page) // what is not there does not only read
	found = make(map[string]bool)
	for _, t := range page.Tools {
		found[t.Name] = t.Annotations.ReadOnlyHint
	}
	return found, page.NextCursor
}

func recordedTools(s *recording.Session) map[string]bool {
	all := make(map[string]bool)
	for _, c := range s.Calls {
		if c.FromClient() && c.Request.Method == string(mcpwire.ToolsList) && c.Response != nil {
			found, _ := readOnly(c.Response.Result)
			maps.Copy(all, found)
		}
	}
	return all
}

// mayCall says why a tool is not called, or "".
func (p *player) mayCall(c *recording.Call) string {
	if p.options.Yes {
		return ""
	}
	name, ok := toolIn(c.Request.Params)
	if !ok {
		return "servers may read its name in different ways; --yes calls it"
	}
	only, known := p.tools.now[name]
	for try := 0; try < mostTries && !known && !p.tools.asked && p.ended == ""; try++ { // the list may change meanwhile
		p.tools.asked = true
		p.list(c)
		only, known = p.tools.now[name]
	}
	if !known {
		if p.tools.now == nil {
			return "the server does not list its tools, so this one may write; --yes calls it"
		}
		only = p.tools.recorded[name]
	}
	if only {
		return ""
	}
	return "the tool is not read-only; --yes calls it"
}

// toolIn returns the name of the tool that params are for. A recording can come from anywhere, and
// encoding/json takes "Name" for "name"; so ok is false if another member could be the name, too.
func toolIn(params json.RawMessage) (name string, ok bool) {
	for key, value := range jsonrpc.Members(params, jsonrpc.Span{Lo: 0, Hi: len(params)}) {
		if !strings.EqualFold(key, "name") {
			continue
		}
		if ok || key != "name" || json.Unmarshal(params[value.Lo:value.Hi], &name) != nil {
			return "", false
		}
		ok = true
	}
	return name, ok
}

// list asks the new server for its tools, in the form of the call that needs it.
func (p *player) list(c *recording.Call) {
	meta := recording.MetaOf(c.Request.Params)
	delete(meta, "progressToken")
	params := map[string]json.RawMessage{}
	if meta[mcpwire.KeyVersion] != nil {
		params["_meta"] = object(meta)
	}
	for range mostPages {
		next := p.tools.learn(p.own(string(mcpwire.ToolsList), object(params)))
		if next == nil || string(next) == "null" {
			return
		}
		params["cursor"] = next
	}
}
