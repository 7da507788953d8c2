package search

import (
	"unicode"
	"unicode/utf8"
)

// maxWord is the number of bytes of a word that count.
const maxWord = 40

// A splitter takes a text apart into words in lower case. Names are split at separators, before
// capital letters and between letters and digits. Of scripts without spaces between words, each
// character is a word.
type splitter struct {
	buf [maxWord + utf8.UTFMax]byte
	n   int // bytes of the word so far
}

// A class is what a character is for the bounds of words.
type class uint8

const (
	none   class = iota // separates words
	lower               // a lower-case letter, or one of a script without cases
	upper               // a capital letter
	digit               // a digit
	single              // a word of its own
	mark                // belongs to the character before
)

// split calls yield with each word of a text. yield may change the bytes that it gets, but not keep
// them.
func (s *splitter) split(text []byte, yield func(word []byte)) {
	last := none
	s.n = 0
	flush := func() {
		if s.n > 0 {
			yield(s.buf[:s.n])
			s.n = 0
		}
	}
	for i := 0; i < len(text); {
		c := text[i]
		if 'a' <= c && c <= 'z' && last <= upper && s.n < maxWord { // nearly every letter
			s.buf[s.n] = c
			s.n++
			last = lower
			i++
			continue
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		class := classOf(r)
		i += size
		switch {
		case class == mark && s.n > 0:
			class = last
		case class == mark, class == none:
			flush()
			last = none
			continue
		case class != last && !(class == lower && last == upper), class == single,
			class == upper && startsLower(text[i:]): // as in "HTMLPage"
			flush()
		}
		last = class
		if s.n < maxWord { // the rest of a longer word does not count
			s.n += utf8.EncodeRune(s.buf[s.n:], unicode.ToLower(r))
		}
	}
	flush()
}

func classOf(r rune) class {
	switch {
	case unicode.IsUpper(r):
		return upper
	case r >= utf8.RuneSelf && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer):
		return single
	case unicode.IsLetter(r):
		return lower
	case unicode.IsDigit(r):
		return digit
	case unicode.IsMark(r):
		return mark
	}
	return none
}

// startsLower reports whether a text starts with a lower-case letter, other than the s that makes
// URIs of URI.
func startsLower(text []byte) bool {
	r, size := utf8.DecodeRune(text)
	if r != 's' {
		return classOf(r) == lower
	}
	next, _ := utf8.DecodeRune(text[size:])
	return classOf(next) == lower
}
