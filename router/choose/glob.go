package choose

import (
	"regexp"
	"strconv"
	"strings"
)

// maxGlob is the maximum length of a glob of a model, in bytes.
const maxGlob = 256

// globMatcher compiles a glob as in active_toolsets: * and ? match any characters, [ab] and [!a-c]
// one of a class, and {a,b} alternatives. It returns nil if the text is not a glob.
//
// The globs come from models, so it makes a regular expression, which matches in linear time.
func globMatcher(text string) func(name string) bool {
	if len(text) > maxGlob || !strings.ContainsAny(text, "*?[{") {
		return nil
	}
	re, err := regexp.Compile(globExpression(text))
	if err != nil {
		return nil
	}
	return re.MatchString
}

// globExpression returns the regular expression of a glob. It is not valid if a bracket is left
// open.
func globExpression(text string) string {
	var b strings.Builder
	b.WriteString(`(?s)\A(?:`)
	depth := 0
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; {
		case r == '*':
			b.WriteString(".*")
		case r == '?':
			b.WriteByte('.')
		case r == '[':
			i = appendClass(&b, runes, i)
		case r == '{':
			depth++
			b.WriteString("(?:")
		case r == ',' && depth > 0:
			b.WriteByte('|')
		case r == '}' && depth > 0:
			depth--
			b.WriteByte(')')
		case r == '\\' && i+1 < len(runes):
			i++
			b.WriteString(regexp.QuoteMeta(string(runes[i])))
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	b.WriteString(`)\z`)
	return b.String()
}

// appendClass appends the class that begins at runes[i], and returns the index of its end.
func appendClass(b *strings.Builder, runes []rune, i int) int {
	b.WriteByte('[')
	if i+1 < len(runes) && runes[i+1] == '!' {
		b.WriteByte('^')
		i++
	}
	for i++; i < len(runes); i++ {
		switch r := runes[i]; r {
		case ']':
			b.WriteByte(']')
			return i
		case '-':
			b.WriteByte('-')
		default:
			b.WriteString(`\x{` + strconv.FormatInt(int64(r), 16) + `}`)
		}
	}
	return i
}

// withoutGlob returns the literal characters of a glob, to find similar names.
func withoutGlob(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`*?[]{}!\`, r) {
			return -1
		}
		return r
	}, text)
}

// literalStart returns the text before the first special character of a glob.
func literalStart(text string) string {
	if i := strings.IndexAny(text, `*?[{\`); i >= 0 {
		return text[:i]
	}
	return text
}
