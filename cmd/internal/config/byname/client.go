package byname

import (
	"toolman/cmd/internal/config/table"
)

// ClientKeys are keys of MCP clients' server blocks that change nothing here.
func ClientKeys() []string {
	return []string{"alwaysAllow", "alwaysLoad", "autoApprove", "dev", "gallery", "timeout", "trust", "version"}
}

// NoteClientKeys adds a warning for each key of a client that is ignored.
func NoteClientKeys(t table.Table) {
	for _, key := range ClientKeys() {
		hint := "take it out"
		switch {
		case !t.Has(key):
			continue
		case key == "timeout":
			hint = "clients mean different things by it: write start_timeout or " + t.Write("call_timeout", `"1m"`)
		case key == "alwaysAllow", key == "autoApprove", key == "trust":
			hint = "tools that need consent are in dangerous_tools"
		}
		t.Warn(t.LineOf(key), hint, "%s is of a client's configuration and is ignored", key)
	}
}

// types are the values of type and the transport that each stands for.
func types() map[string]string {
	return map[string]string{"stdio": "command", "http": "url", "sse": "url", "streamable-http": "url", "streamableHttp": "url"}
}

// CheckType adds a problem with a type that contradicts the server's transport. A server at a url
// needs no type: toolman finds out which transport it speaks.
func CheckType(t table.Table) {
	as := t.Choice("type", "stdio", "http", "sse", "streamable-http", "streamableHttp")
	if needs := types()[as]; t.Has("type") && needs != "" && !t.Has(needs) && (t.Has("command") || t.Has("url") || t.Has("socket")) {
		t.FailAt("type", "take it out", "the type %s is for a server with a %s", as, needs)
	}
}

// Enabled reads enabled, and disabled, which is its opposite.
func Enabled(t table.Table) bool {
	if t.Has("enabled") && t.Has("disabled") {
		t.FailAt("disabled", "keep one of the two", "this server has enabled and disabled")
	}
	return t.Bool("enabled", true) && !t.Bool("disabled", false)
}
