package mcpwire

import (
	"fmt"

	"toolman/jsonrpc"
)

// Bounds of what one subscriptions/listen may ask for.
const (
	maxListenURIs     = 10_000
	maxListenURIBytes = 1 << 20 // of all of them together
)

// A Filter is what a client wants to hear of on a subscription.
type Filter struct {
	ToolsListChanged, PromptsListChanged, ResourcesListChanged bool
	// ResourceSubscriptions are the URIs whose updates are wanted.
	ResourceSubscriptions []string
}

var filterKeys = [...]string{"toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions"}

// ParseFilter reads the filter of a subscriptions/listen request or of its
// acknowledgement. What it asks for beyond these revisions is passed over, because
// it will not be acknowledged. Each error is a *Refusal.
func ParseFilter(m *jsonrpc.Message) (Filter, error) {
	at, err := m.Param("notifications")
	if err != nil {
		return Filter{}, invalid(err.Error())
	}
	if !m.IsObject(at) {
		return Filter{}, invalid("params.notifications must be there and be an object, such as {\"toolsListChanged\":true}")
	}
	var found [len(filterKeys)]jsonrpc.Member
	if err := m.Find(at, filterKeys[:], found[:]); err != nil {
		return Filter{}, invalid(err.Error())
	}
	var f Filter
	for i, flag := range [...]*bool{&f.ToolsListChanged, &f.PromptsListChanged, &f.ResourcesListChanged} {
		switch text := string(m.Bytes(found[i].Value)); text {
		case "true":
			*flag = true
		case "", "false":
		default:
			return Filter{}, invalid("params.notifications." + filterKeys[i] + " must be true or false")
		}
	}
	f.ResourceSubscriptions, err = listenURIs(m, found[3].Value)
	return f, err
}

func listenURIs(m *jsonrpc.Message, list jsonrpc.Span) ([]string, error) {
	if !list.Present() {
		return nil, nil
	}
	if m.Frame[list.Lo] != '[' {
		return nil, invalid("params.notifications.resourceSubscriptions must be a list of URIs")
	}
	var uris []string
	size := 0
	for at := range jsonrpc.Elements(m.Frame, list) {
		if !m.IsString(at) {
			return nil, invalid("params.notifications.resourceSubscriptions must be a list of URIs")
		}
		if size += at.Hi - at.Lo; size > maxListenURIBytes || len(uris) == maxListenURIs {
			return nil, invalid(fmt.Sprintf("params.notifications.resourceSubscriptions: one subscription takes %d URIs of %d bytes together; use several",
				maxListenURIs, maxListenURIBytes))
		}
		uris = append(uris, string(m.Text(at)))
	}
	return uris, nil
}

// Wants reports whether the filter asks for a list_changed notification of this
// method.
func (f *Filter) Wants(method Method) bool {
	switch method {
	case ToolsListChanged:
		return f.ToolsListChanged
	case PromptsListChanged:
		return f.PromptsListChanged
	case ResourcesListChanged:
		return f.ResourcesListChanged
	}
	return false
}

// Append appends the filter as JSON: only what it asks for.
func (f *Filter) Append(dst []byte) []byte {
	dst = append(dst, '{')
	start := len(dst)
	for i, flag := range [...]bool{f.ToolsListChanged, f.PromptsListChanged, f.ResourcesListChanged} {
		if flag {
			dst = append(append(append(dst, '"'), filterKeys[i]...), `":true,`...)
		}
	}
	if len(f.ResourceSubscriptions) > 0 {
		dst = append(dst, `"resourceSubscriptions":[`...)
		for _, uri := range f.ResourceSubscriptions {
			dst = append(jsonrpc.AppendQuoted(dst, uri), ',')
		}
		dst = append(dst[:len(dst)-1], "],"...)
	}
	if len(dst) > start {
		dst = dst[:len(dst)-1]
	}
	return append(dst, '}')
}

// AppendListen appends the params of a subscriptions/listen request of toolman's
// own.
func (f *Filter) AppendListen(dst []byte, claim *Claim) []byte {
	return claim.AppendParams(dst, f.Append([]byte(`"notifications":`)))
}
