package trace

import (
	"strconv"
	"unicode/utf8"
)

func field(dst []byte, key string) []byte {
	dst = append(dst, `,"`...)
	dst = append(dst, key...)
	return append(dst, `":`...)
}

// word writes a string of the format's own vocabulary.
func word(dst []byte, key, s string) []byte {
	if s == "" {
		return dst
	}
	return appendString(field(dst, key), []byte(s))
}

func number(dst []byte, key string, n int64) []byte {
	if n == 0 || n < 0 && key != "code" {
		return dst
	}
	return strconv.AppendInt(field(dst, key), n, 10)
}

func call(dst []byte, n uint64) []byte {
	if n == 0 {
		return dst
	}
	dst = append(dst, `,"call":"c`...)
	dst = strconv.AppendUint(dst, n, 10)
	return append(dst, '"')
}

// appendString writes s as a JSON string: what is not UTF-8 as U+FFFD, control characters (DEL and C1 too) escaped.
func appendString(dst, s []byte) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if ' ' <= c && c < 0x7f {
			if c == '"' || c == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(s[i:])
		dst = appendRune(dst, r)
		i += n
	}
	return append(dst, '"')
}

func appendRune(dst []byte, r rune) []byte {
	switch {
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\t':
		return append(dst, `\t`...)
	case r == '\r':
		return append(dst, `\r`...)
	case r < ' ', 0x7f <= r && r < 0xa0:
		const hex = "0123456789abcdef"
		return append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
	}
	return utf8.AppendRune(dst, r)
}
