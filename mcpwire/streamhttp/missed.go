package streamhttp

import (
	"toolman/jsonrpc"
	"toolman/mcpwire"
)

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
