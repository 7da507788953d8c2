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

// removeFrom appends edits that take members out of the object inner. When that would
// leave nothing in it, it appends none and says so: then inner itself can go.
func removeFrom(edits []jsonrpc.Edit, frame []byte, inner jsonrpc.Span, gone ...jsonrpc.Member) (out []jsonrpc.Edit, empty bool) {
	had := len(edits)
	edits = jsonrpc.AppendRemoval(edits, frame, inner, gone...)
	if len(edits) == had+1 && jsonrpc.Removed(edits[had], inner) {
		return edits[:had], true
	}
	return edits, false
}

// removeParamsMeta appends edits that take members out of params._meta, and meta, which
// it is, when nothing is left in it.
func removeParamsMeta(edits []jsonrpc.Edit, m *jsonrpc.Message, meta jsonrpc.Member, gone ...jsonrpc.Member) []jsonrpc.Edit {
	edits, empty := removeFrom(edits, m.Frame, meta.Value, gone...)
	if empty {
		edits = jsonrpc.AppendRemoval(edits, m.Frame, m.Params, meta)
	}
	return edits
}
