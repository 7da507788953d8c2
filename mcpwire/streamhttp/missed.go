package streamhttp

import (
	"encoding/json"
	"strings"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// tellMissed tells the handler that what the server of a legacy session tells of changes of may
// be another now: its stream was broken off, or the session was forgotten, most likely because the server was started anew.
func (c *Conn) tellMissed() {
	c.mu.Lock()
	frames := missedLists(c.welcome)
	for key := range c.standing {
		if uri, ok := strings.CutPrefix(key, standingURI); ok {
			params := append(jsonrpc.AppendQuoted([]byte(`{"uri":`), uri), '}')
			frames = append(frames, jsonrpc.AppendNotification(nil, string(mcpwire.ResourceUpdated), params))
		}
	}
	c.mu.Unlock()
	for _, frame := range frames {
		c.frame(frame)
	}
}

// missedLists are the notifications about lists that come from a server which has answered
// initialize so.
func missedLists(welcome []byte) (frames [][]byte) {
	var r mcpwire.InitializeResult
	if json.Unmarshal(welcome, &r) != nil {
		return nil
	}
	for _, of := range [...]struct {
		capability string
		method     mcpwire.Method
	}{{"tools", mcpwire.ToolsListChanged}, {"resources", mcpwire.ResourcesListChanged}, {"prompts", mcpwire.PromptsListChanged}} {
		if r.OffersFlag(of.capability, "listChanged") {
			frames = append(frames, jsonrpc.AppendNotification(nil, string(of.method), nil))
		}
	}
	return frames
}

// missed are the notifications that a subscription may have missed while it was broken
// off: all that it asks for.
func missed(p *post) (frames [][]byte) {
	filter, err := p.msg.Param("notifications")
	if err != nil {
		return nil
	}
	meta := `"_meta":{"` + mcpwire.KeySubscription + `":` + p.id + `}}`
	for key, at := range jsonrpc.Members(p.frame, filter) {
		method, wanted := changeOf(key), string(p.msg.Bytes(at)) == "true"
		if method != "" && wanted {
			frames = append(frames, jsonrpc.AppendNotification(nil, string(method), []byte("{"+meta)))
		}
		if key != "resourceSubscriptions" {
			continue
		}
		for uri := range jsonrpc.Elements(p.frame, at) {
			if p.msg.IsString(uri) {
				params := append([]byte(`{"uri":`), p.msg.Bytes(uri)...)
				frames = append(frames, jsonrpc.AppendNotification(nil, string(mcpwire.ResourceUpdated), append(params, ","+meta...)))
			}
		}
	}
	return frames
}

// changeOf is the notification that a member of a filter asks for; "" for none.
func changeOf(key string) mcpwire.Method {
	switch key {
	case "toolsListChanged":
		return mcpwire.ToolsListChanged
	case "promptsListChanged":
		return mcpwire.PromptsListChanged
	case "resourcesListChanged":
		return mcpwire.ResourcesListChanged
	}
	return ""
}
