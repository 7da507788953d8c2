package mcpwire

import "toolman/jsonrpc"

// addMeta appends edits that put members into params._meta, whichever of the two
// is missing. meta is the _meta that is there; inside is the members, and whole is a
// member _meta of them, each with a comma behind it.
func addMeta(edits []jsonrpc.Edit, m *jsonrpc.Message, meta jsonrpc.Member, inside, whole []byte) []jsonrpc.Edit {
	switch {
	case m.IsObject(meta.Value):
		return jsonrpc.AppendInsertion(edits, m.Frame, meta.Value, inside)
	case meta.Present(): // null, or what no receiver could read
		return append(edits, jsonrpc.Edit{Span: meta.Value, New: whole[len(`"_meta":`) : len(whole)-1]})
	case m.IsObject(m.Params):
		return jsonrpc.AppendInsertion(edits, m.Frame, m.Params, whole)
	}
	params := append(append([]byte(`,"params":{`), whole[:len(whole)-1]...), '}')
	switch {
	case !m.Params.Present():
		return append(edits, jsonrpc.Edit{Span: jsonrpc.Span{Lo: m.Method.Hi, Hi: m.Method.Hi}, New: params})
	case string(m.Bytes(m.Params)) == "null":
		return append(edits, jsonrpc.Edit{Span: m.Params, New: params[len(`,"params":`):]})
	}
	return edits // a list has no place for it
}

// removeWithin appends edits that take members out of the object inner, and inner
// out of the object outer when nothing is left in it.
func removeWithin(edits []jsonrpc.Edit, frame []byte, outer jsonrpc.Span, inner jsonrpc.Member, gone ...jsonrpc.Member) []jsonrpc.Edit {
	had := len(edits)
	edits = jsonrpc.AppendRemoval(edits, frame, inner.Value, gone...)
	if len(edits) == had+1 && jsonrpc.Removed(edits[had], inner.Value) {
		return jsonrpc.AppendRemoval(edits[:had], frame, outer, inner)
	}
	return edits
}
