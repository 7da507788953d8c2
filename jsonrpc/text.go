package jsonrpc

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Unquote returns the text of a valid JSON string given with its quotes. When
// there is no escape in it, the result is a part of quoted.
func Unquote(quoted []byte) []byte {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	return unescape(inner)
}

// unescape resolves the escapes of a string's inside. Half a surrogate pair
// becomes U+FFFD.
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

// AppendQuoted appends text as a JSON string. Only what JSON demands is
// escaped; invalid UTF-8 becomes U+FFFD.
func AppendQuoted[T string | []byte](dst []byte, text T) []byte {
	dst = append(dst, '"')
	dst = AppendEscaped(dst, text)
	return append(dst, '"')
}

// AppendEscaped is AppendQuoted without the quotes.
func AppendEscaped[T string | []byte](dst []byte, text T) []byte {
	done := 0 // what stands before is in dst
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
