package provider

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shortened returns the sentences of a text that fit into most characters. If the first one does
// not fit, it is cut at a word.
func shortened(text string, most int) string {
	text = tidy(text)
	limit := offset(text, most)
	if limit == len(text) {
		return squeezed(text)
	}
	for end, next := 0, 0; ; end = next {
		if next = end + sentenceEnd(text[end:]); next <= limit {
			continue
		}
		if end == 0 {
			return cutAtWord(text, most)
		}
		return squeezed(text[:end])
	}
}

// firstSentence returns the first sentence of a text, cut at a word if it has more than most
// characters.
func firstSentence(text string, most int) string {
	text = tidy(text)
	text = squeezed(text[:sentenceEnd(text)])
	return cutAtWord(text, most)
}

// tidy returns text with each run of white space replaced by one space, one line break, or two if
// it contains an empty line.
func tidy(text string) string {
	var b strings.Builder
	for text = strings.TrimSpace(text); text != ""; {
		word := strings.IndexFunc(text, unicode.IsSpace)
		if word < 0 {
			word = len(text)
		}
		b.WriteString(text[:word])
		rest := strings.TrimLeftFunc(text[word:], unicode.IsSpace)
		space := text[word : len(text)-len(rest)]
		if lines := min(strings.Count(space, "\n"), 2); lines > 0 {
			space = "\n\n"[:lines]
		} else if space != "" {
			space = " "
		}
		b.WriteString(space)
		text = rest
	}
	return b.String()
}

// squeezed returns text with each run of white space replaced by one space.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

// offset returns where the first n characters of text end.
func offset(text string, n int) int {
	for i := range text {
		if n--; n < 0 {
			return i
		}
	}
	return len(text)
}

// cutAtWord returns at most n characters of text. If it leaves something out, it ends after a word
// with "…".
func cutAtWord(text string, n int) string {
	if offset(text, n) == len(text) {
		return text
	}
	text = text[:offset(text, n-1)]
	if space := strings.LastIndexFunc(text, unicode.IsSpace); space > len(text)/2 { // not in a language without spaces
		text = text[:space]
	}
	return strings.TrimRightFunc(squeezed(text), func(r rune) bool { return strings.ContainsRune(",;:-–(", r) }) + "…"
}

// sentenceEnd returns where the first sentence of a tidy text ends, with the white space after it.
// A sentence ends at a stop before a space, at a CJK stop, and at an empty line. A stop does not
// end it in 3.5, e.g., U.S. and 1. (a number of a list), or before a small letter.
func sentenceEnd(text string) int {
	for i, r := range text {
		switch r {
		case '。', '！', '？', '｡':
			return afterStop(text, i+utf8.RuneLen(r))
		case '.', '!', '?', '…':
			end := afterStop(text, i+utf8.RuneLen(r))
			if end == len(text) || isStop(text[:i], r, text[i+utf8.RuneLen(r):end], text[end:]) {
				return end
			}
		case '\n':
			if strings.HasPrefix(text[i:], "\n\n") {
				return i + len("\n\n")
			}
		}
	}
	return len(text)
}

// afterStop returns the offset after the closing marks and the white space at i.
func afterStop(text string, i int) int {
	rest := strings.TrimLeft(text[i:], `)]}"'’”»」』）`+"`*_")
	return len(text) - len(strings.TrimLeftFunc(rest, unicode.IsSpace))
}

// abbreviations are words whose stop does not end a sentence, also before a capital. So are single
// letters, as in e.g. and U.S.
var abbreviations = []string{"cf", "vs", "approx", "incl", "resp", "ca", "al", "fig", "dr", "mr", "mrs", "prof"}

// isStop reports whether a stop ends a sentence. between is what afterStop has skipped.
func isStop(before string, stop rune, between, after string) bool {
	if !strings.ContainsFunc(between, unicode.IsSpace) {
		return false
	}
	if next, _ := utf8.DecodeRuneInString(after); unicode.IsLower(next) {
		return false
	}
	word := before[strings.LastIndexFunc(before, unicode.IsSpace)+1:]
	word = strings.ToLower(strings.TrimLeft(word, `([{"'`))
	if stop != '.' || word == "" {
		return true
	}
	long := func(part string) bool { return utf8.RuneCountInString(part) != 1 }
	isNumber := strings.Trim(word, "0123456789") == ""
	if slices.Contains(abbreviations, word) || !isNumber && !slices.ContainsFunc(strings.Split(word, "."), long) {
		return false
	}
	startsLine := before == word || strings.HasSuffix(before, "\n"+word)
	return !isNumber || !startsLine
}
