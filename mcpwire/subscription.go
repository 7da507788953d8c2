package mcpwire

import (
	"bytes"
	"fmt"
	"slices"

	"toolman/jsonrpc"
)

// Limits on what one subscriptions/listen may ask for.
const (
	maxListenURIs     = 10_000
	maxListenURIBytes = 1 << 20 // of all of them together
)

// A Filter selects the notifications of a subscription.
type Filter struct {
	ToolsListChanged, PromptsListChanged, ResourcesListChanged bool
	ResourceSubscriptions                                      []string // URIs of resources
}

var filterKeys = [...]string{"toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions"}

// flags are the members of the filter that have the first of filterKeys.
func (f *Filter) flags() [3]*bool {
	return [...]*bool{&f.ToolsListChanged, &f.PromptsListChanged, &f.ResourcesListChanged}
}

// ParseFilter reads the filter of a subscriptions/listen request or of its acknowledgement. It
// skips unknown members: they will not be acknowledged. Each error is a *Refusal.
func ParseFilter(m *jsonrpc.Message) (Filter, error) {
	at, err := m.Param("notifications")
	if err != nil {
		return Filter{}, Invalid(err.Error())
	}
	if !m.IsObject(at) {
		return Filter{}, Invalid(`params.notifications must be an object, such as {"toolsListChanged":true}`)
	}
	var found [len(filterKeys)]jsonrpc.Member
	if err := m.Find(at, filterKeys[:], found[:]); err != nil {
		return Filter{}, Invalid(err.Error())
	}
	var f Filter
	for i, flag := range f.flags() {
		switch text := string(m.Bytes(found[i].Value)); text {
		case "true":
			*flag = true
		case "", "false":
		default:
			return Filter{}, Invalid("params.notifications." + filterKeys[i] + " must be true or false")
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
		return nil, Invalid("params.notifications.resourceSubscriptions must be a list of URIs")
	}
	var uris []string
	size := 0
	for at := range jsonrpc.Elements(m.Frame, list) {
		if !m.IsString(at) {
			return nil, Invalid("params.notifications.resourceSubscriptions must be a list of URIs")
		}
		if size += at.Hi - at.Lo; size > maxListenURIBytes || len(uris) == maxListenURIs {
			return nil, Invalid(fmt.Sprintf("params.notifications.resourceSubscriptions: one subscription takes %d URIs of %d bytes together; use several",
				maxListenURIs, maxListenURIBytes))
		}
		uris = append(uris, string(m.Text(at)))
	}
	return uris, nil
}

// Wants reports whether the filter asks for a list_changed notification of this method.
func (f *Filter) Wants(method Method) bool {
	i := slices.Index([]Method{ToolsListChanged, PromptsListChanged, ResourcesListChanged}, method)
	return i >= 0 && *f.flags()[i]
}

// Append appends the filter as JSON.
func (f *Filter) Append(dst []byte) []byte {
	var members, uris [][]byte
	for i, flag := range f.flags() {
		if *flag {
			members = append(members, fmt.Appendf(nil, `"%s":true`, filterKeys[i]))
		}
	}
	for _, uri := range f.ResourceSubscriptions {
		uris = append(uris, quote(uri))
	}
	if len(uris) > 0 {
		members = append(members, fmt.Appendf(nil, `"resourceSubscriptions":[%s]`, bytes.Join(uris, []byte(","))))
	}
	return fmt.Appendf(dst, "{%s}", bytes.Join(members, []byte(",")))
}

// AppendListen appends the params of a subscriptions/listen request of toolman's own.
func (f *Filter) AppendListen(dst []byte, claim *Claim) []byte {
	return claim.AppendParams(dst, f.Append([]byte(`"notifications":`)))
}

// The ID of a subscription is that of the request that opened it, a JSON token. It is sent exactly
// as it came, because clients also compare its type (2026-07-28, Subscriptions).

// AppendAcknowledged appends the first notification of a subscription. It says which part of the
// client's filter is honoured.
func AppendAcknowledged(dst, id []byte, honoured *Filter) []byte {
	return appendOn(dst, id, Acknowledged, honoured.Append([]byte(`,"notifications":`)))
}

// AppendListChanged appends a list_changed notification for a subscription.
func AppendListChanged(dst, id []byte, method Method) []byte { return appendOn(dst, id, method, nil) }

// AppendUpdated appends the notification for a subscription that a resource has changed.
func AppendUpdated(dst, id []byte, uri string) []byte {
	return appendOn(dst, id, ResourceUpdated, jsonrpc.AppendQuoted([]byte(`,"uri":`), uri))
}

// appendOn appends a notification for a subscription, with further members of params, each with a
// comma before it.
func appendOn(dst, id []byte, method Method, more []byte) []byte {
	return fmt.Appendf(dst, `{"jsonrpc":"2.0","method":"%s","params":{%s%s}}`, method, subscriptionMeta(id), more)
}

// subscriptionMeta is the member _meta that names a subscription.
func subscriptionMeta(id []byte) []byte {
	return fmt.Appendf(nil, `"_meta":{"`+KeySubscription+`":%s}`, id)
}

// AppendListenEnd appends the response with which a server ends a subscription.
func AppendListenEnd(dst, id []byte) []byte {
	return jsonrpc.AppendResult(dst, id, fmt.Appendf(nil, "{%s%s}", completeMember, subscriptionMeta(id)))
}

// SubscriptionOf returns the member of a notification's params._meta that names its subscription.
// It is absent if the notification belongs to none.
func SubscriptionOf(m *jsonrpc.Message) (jsonrpc.Member, error) {
	meta, err := m.Param("_meta")
	if err != nil {
		return jsonrpc.Member{}, err
	}
	id, err := m.GetMember(meta, KeySubscription)
	if err != nil || !m.IsID(id.Value) {
		return jsonrpc.Member{}, err
	}
	return id, nil
}

// ToSubscription appends edits that assign a server's notification to the subscription of a modern
// client with this ID.
func ToSubscription(edits []jsonrpc.Edit, m *jsonrpc.Message, id []byte) ([]jsonrpc.Edit, error) {
	meta, err := m.ParamMember("_meta")
	if err != nil {
		return edits, err
	}
	had, err := m.GetMember(meta.Value, KeySubscription)
	if err != nil {
		return edits, err
	}
	if had.Present() {
		return append(edits, jsonrpc.Edit{Span: had.Value, New: id}), nil
	}
	return addMeta(edits, m, meta, fmt.Appendf(nil, `"`+KeySubscription+`":%s,`, id), append(subscriptionMeta(id), ',')), nil
}

// FromSubscription appends edits that turn a modern server's notification into one for a legacy
// client, which has no subscriptions.
func FromSubscription(edits []jsonrpc.Edit, m *jsonrpc.Message, subscription jsonrpc.Member) ([]jsonrpc.Edit, error) {
	meta, err := m.ParamMember("_meta")
	if err != nil {
		return edits, err
	}
	return removeParamsMeta(edits, m, meta, subscription), nil
}
