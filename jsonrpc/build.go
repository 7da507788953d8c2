package jsonrpc

// A Param is a member of the params of a request: a key that needs no escapes, and JSON.
type Param struct {
	Key   string
	Value []byte
}

// Build makes a request of valid JSON, as Scan would find it. The method needs no escapes.
func (m *Message) Build(id []byte, method string, params ...Param) {
	*m = Message{Kind: Request, nparams: len(params)}
	if len(params) > maxMembers {
		m.nparams = -1
	}
	size := 64 + len(id) + len(method)
	for _, p := range params {
		size += len(p.Key) + len(p.Value) + 4
	}
	b := append(make([]byte, 0, size), `{"jsonrpc":"2.0","id":`...)
	b, m.ID = appendSpan(b, id)
	b = append(b, `,"method":`...)
	b, m.Method = appendSpan(b, AppendQuoted(nil, method))
	b = append(b, `,"params":{`...)
	m.Params.Lo = len(b) - 1
	for i, p := range params {
		var at Member
		if i > 0 {
			b = append(b, ',')
		}
		b, at.Key = appendSpan(append(b, '"'), []byte(p.Key))
		b, at.Value = appendSpan(append(b, `":`...), p.Value)
		if i < maxMembers {
			m.params[i] = at
		}
	}
	b = append(b, '}')
	m.Params.Hi = len(b)
	m.Frame = append(b, '}')
}

func appendSpan(b, text []byte) ([]byte, Span) {
	return append(b, text...), Span{len(b), len(b) + len(text)}
}
