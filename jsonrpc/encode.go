package jsonrpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Unquote returns the text of a valid JSON string given with its quotes. If it has no escapes, the
// result is a part of quoted.
func Unquote(quoted []byte) []byte { return unescape(quoted[1 : len(quoted)-1]) }

// unescape resolves the escapes of the inside of a string. Half a surrogate pair becomes U+FFFD.
func unescape(inner []byte) []byte {
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	quoted := make([]byte, 0, len(inner)+2)
	quoted = append(append(append(quoted, '"'), inner...), '"')
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return inner
	}
	return []byte(text)
}

const hexDigits = "0123456789abcdef"

// AppendQuoted appends text as a JSON string. It escapes only what JSON requires. Invalid UTF-8
// becomes U+FFFD.
func AppendQuoted[T string | []byte](dst []byte, text T) []byte {
	dst = append(dst, '"')
	dst = AppendEscaped(dst, text)
	return append(dst, '"')
}

// AppendEscaped is AppendQuoted without the quotes.
func AppendEscaped[T string | []byte](dst []byte, text T) []byte {
	done := 0 // dst has the text before
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if i++; c < ' ' || c == '"' || c == '\\' {
				dst = appendEscape(append(dst, text[done:i-1]...), c)
				done = i
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
		if i += n; r == utf8.RuneError && n == 1 {
			dst = utf8.AppendRune(append(dst, text[done:i-1]...), r)
			done = i
		}
	}
	return append(dst, text[done:]...)
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// AppendResult appends a response. The id is a JSON token, and the result is JSON.
func AppendResult(dst, id, result []byte) []byte {
	dst = appendReply(dst, id, `,"result":`)
	dst = append(dst, result...)
	return append(dst, '}')
}

// AppendErrorResponse appends an error response whose error object is given as JSON.
func AppendErrorResponse(dst, id, object []byte) []byte {
	dst = appendReply(dst, id, `,"error":`)
	dst = append(dst, object...)
	return append(dst, '}')
}

// AppendError appends an error response. A nil id stands for an id that could not be read and
// becomes null (JSON-RPC 2.0, section 5). data is JSON or nil.
func AppendError(dst, id []byte, code int64, message string, data json.RawMessage) []byte {
	dst = fmt.Appendf(appendReply(dst, id, `,"error":`), `{"code":%d,"message":%s`, code, AppendQuoted(nil, message))
	if data != nil {
		dst = fmt.Appendf(dst, `,"data":%s`, data)
	}
	return append(dst, "}}"...)
}

func appendReply(dst, id []byte, next string) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		dst = append(dst, "null"...)
	}
	dst = append(dst, id...)
	return append(dst, next...)
}

// AppendNotification appends a notification. It leaves out nil params.
func AppendNotification(dst []byte, method string, params []byte) []byte {
	dst = fmt.Appendf(dst, `{"jsonrpc":"2.0","method":%s`, AppendQuoted(nil, method))
	if params != nil {
		dst = fmt.Appendf(dst, `,"params":%s`, params)
	}
	return append(dst, '}')
}

// A Param is a member of the params of a request to build. The key needs no escapes, and the value
// is JSON.
type Param struct {
	Key   string
	Value []byte
}

// Build makes m a request, as Scan would find it. The id is a JSON token.
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
