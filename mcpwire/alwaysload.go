package mcpwire

import "toolman/jsonrpc"

// AlwaysLoad is the member of an object that asks clients which defer tools not to
// defer this one: _meta, with what Anthropic's clients look for in it.
const AlwaysLoad = `"_meta":{` + alwaysLoadKey + `}`

const alwaysLoadKey = `"anthropic/alwaysLoad":true`

// AlwaysLoad returns the edit that asks clients not to defer the tool. There is none,
// and New is nil, where the tool says itself what it wants, or has no _meta that
// could take it.
func (it *Item) AlwaysLoad() jsonrpc.Edit {
	m := jsonrpc.Message{Frame: it.Raw}
	whole := jsonrpc.Span{Hi: len(it.Raw)}
	meta, err := m.Get(whole, "_meta")
	if err != nil {
		return jsonrpc.Edit{}
	}
	if !meta.Present() {
		return insertion(it.Raw, whole, AlwaysLoad+",")
	}
	said, err := m.Get(meta, "anthropic/alwaysLoad")
	if err != nil || said.Present() || !m.IsObject(meta) {
		return jsonrpc.Edit{}
	}
	return insertion(it.Raw, meta, alwaysLoadKey+",")
}

func insertion(frame []byte, obj jsonrpc.Span, members string) jsonrpc.Edit {
	return jsonrpc.AppendInsertion(nil, frame, obj, []byte(members))[0]
}
