package trace

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

const (
	minCoded = 5       // bytes of the shortest secret that is looked for in base64 and hex
	maxCoded = 4 << 10 // bytes of the longest one: its forms take up to twelve times its size
)

// appendForms appends the byte sequences to look for: the secret itself, and the secret in
// encodings that have no escapes. A [view] resolves those that have some.
func appendForms(forms []string, s string) []string {
	forms = append(forms, s)
	if strings.Contains(s, " ") {
		forms = append(forms, strings.ReplaceAll(s, " ", "+")) // application/x-www-form-urlencoded; a view resolves its %HH
	}
	if len(s) < minCoded || len(s) > maxCoded {
		return forms
	}
	lower := hex.EncodeToString([]byte(s))
	forms = append(forms, lower, strings.ToUpper(lower))
	for lead := range 3 {
		text := base64Middle(base64.RawStdEncoding, s, lead)
		forms = append(forms, text)
		if strings.ContainsAny(text, "+/") {
			forms = append(forms, base64Middle(base64.RawURLEncoding, s, lead))
		}
	}
	return forms
}

// base64Middle is the part of the base64 of a longer text that only s decides. lead (0 to 2) is how
// many bytes stand before s in its first group of three. The characters at both ends also hold bits
// of what stands around s, so they are left out. They tell at most four bits of the first byte of s
// and four of the last.
func base64Middle(enc *base64.Encoding, s string, lead int) string {
	text := enc.EncodeToString(append(make([]byte, lead, lead+len(s)), s...))
	return text[(lead*8+5)/6 : (lead+len(s))*8/6]
}
