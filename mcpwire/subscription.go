package mcpwire

import "toolman/jsonrpc"

// A subscription is known by the id of the request that opened it, a JSON token.
// It goes out as it came: clients compare its type, too (2026-07-28,
// Subscriptions).

// AppendAcknowledged appends the notification that comes first on a subscription and
// says which part of what the client asked for it will hear of.
func AppendAcknowledged(dst, id []byte, honoured *Filter) []byte {
	dst = appendOn(dst, id, Acknowledged)
	dst = append(dst, `,"notifications":`...)
	dst = honoured.Append(dst)
	return append(dst, "}}"...)
}

// AppendListChanged appends a list_changed notification for a subscription.
func AppendListChanged(dst, id []byte, method Method) []byte {
	return append(appendOn(dst, id, method), "}}"...)
}

// AppendUpdated appends the notification for a subscription that a resource has
// changed.
func AppendUpdated(dst, id []byte, uri string) []byte {
	dst = append(appendOn(dst, id, ResourceUpdated), `,"uri":`...)
	return append(jsonrpc.AppendQuoted(dst, uri), "}}"...)
}

// appendOn appends a notification up to the end of its _meta.
func appendOn(dst, id []byte, method Method) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":"`...)
	dst = append(dst, method...)
	dst = append(dst, `","params":`...)
	return appendSubscription(append(dst, '{'), id)
}

func appendSubscription(dst, id []byte) []byte {
	dst = append(dst, `"_meta":{"`+KeySubscription+`":`...)
	return append(append(dst, id...), '}')
}

// AppendListenEnd appends the response with which a server ends a subscription in
// good order.
func AppendListenEnd(dst, id []byte) []byte {
	result := append([]byte("{"), completeMember...)
	result = append(appendSubscription(result, id), '}')
	return jsonrpc.AppendResult(dst, id, result)
}

var subscriptionKey = [...]string{KeySubscription}

// SubscriptionOf returns the member of a notification's params._meta that says to
// which subscription it belongs; it is absent in those that belong to none.
func SubscriptionOf(m *jsonrpc.Message) (jsonrpc.Member, error) {
	meta, err := m.Param("_meta")
	if err != nil {
		return jsonrpc.Member{}, err
	}
	var found [1]jsonrpc.Member
	if err := m.Find(meta, subscriptionKey[:], found[:]); err != nil || !isID(m, found[0].Value) {
		return jsonrpc.Member{}, err
	}
	return found[0], nil
}

// ToSubscription appends edits that put an upstream's notification on the
// subscription of a modern client that has this id.
func ToSubscription(edits []jsonrpc.Edit, m *jsonrpc.Message, id []byte) ([]jsonrpc.Edit, error) {
	meta, err := m.ParamMember("_meta")
	if err != nil {
		return edits, err
	}
	var found [1]jsonrpc.Member
	if err := m.Find(meta.Value, subscriptionKey[:], found[:]); err != nil {
		return edits, err
	}
	if found[0].Present() {
		return append(edits, jsonrpc.Edit{Span: found[0].Value, New: id}), nil
	}
	inside := append(append([]byte(`"`+KeySubscription+`":`), id...), ',')
	whole := append(appendSubscription(nil, id), ',')
	return addMeta(edits, m, meta, inside, whole), nil
}

// FromSubscription appends edits that make a modern server's notification one for a
// legacy client, who knows of no subscription.
func FromSubscription(edits []jsonrpc.Edit, m *jsonrpc.Message, subscription jsonrpc.Member) ([]jsonrpc.Edit, error) {
	meta, err := m.ParamMember("_meta")
	if err != nil {
		return edits, err
	}
	return removeParamsMeta(edits, m, meta, subscription), nil
}
