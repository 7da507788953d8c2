package search

// stem returns the stem of an English word in lower case: the algorithm Porter2 ("English" of
// Snowball) without its lists of exceptional words. Other words, and those with other letters than
// a to z, stay as they are. It may change the bytes of word.
func stem(word []byte) []byte {
	if len(word) <= 2 {
		return word
	}
	for _, c := range word {
		if c < 'a' || c > 'z' {
			return word
		}
	}
	s := stemmer{w: word}
	s.markConsonantY()
	s.regions()
	s.plural()
	s.pastAndGerund()
	s.finalY()
	s.longSuffixes()
	s.middleSuffixes()
	s.shortSuffixes()
	s.finalE()
	for i, c := range s.w {
		if c == 'Y' {
			s.w[i] = 'y'
		}
	}
	return s.w
}

// A stemmer holds a word while it loses its suffixes. r1 and r2 are the starts of the regions that
// the rules speak of. Y stands for a y that is a consonant.
type stemmer struct {
	w      []byte
	r1, r2 int
}

func isVowel(c byte) bool {
	return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' || c == 'y'
}

func (s *stemmer) markConsonantY() {
	for i, c := range s.w {
		if c == 'y' && (i == 0 || isVowel(s.w[i-1])) {
			s.w[i] = 'Y'
		}
	}
}

// regions finds r1 and r2: each begins after the first consonant that follows a vowel.
func (s *stemmer) regions() {
	after := func(from int) int {
		for i := from + 1; i < len(s.w); i++ {
			if !isVowel(s.w[i]) && isVowel(s.w[i-1]) {
				return i + 1
			}
		}
		return len(s.w)
	}
	s.r1 = after(0)
	for _, prefix := range [...]string{"gener", "commun", "arsen"} {
		if len(s.w) >= len(prefix) && string(s.w[:len(prefix)]) == prefix {
			s.r1 = len(prefix)
		}
	}
	s.r2 = after(s.r1)
}

func (s *stemmer) ends(suffix string) bool {
	return len(s.w) >= len(suffix) && string(s.w[len(s.w)-len(suffix):]) == suffix
}

// cut removes n bytes, and appends what replaces them.
func (s *stemmer) cut(n int, by string) { s.w = append(s.w[:len(s.w)-n], by...) }

// hasVowel reports whether there is a vowel before the last n bytes.
func (s *stemmer) hasVowel(n int) bool {
	for _, c := range s.w[:len(s.w)-n] {
		if isVowel(c) {
			return true
		}
	}
	return false
}

// endsShort reports whether the word ends in a short syllable.
func (s *stemmer) endsShort() bool {
	n := len(s.w)
	switch {
	case n == 2:
		return isVowel(s.w[0]) && !isVowel(s.w[1])
	case n < 3:
		return false
	}
	c := s.w[n-1]
	return !isVowel(c) && c != 'w' && c != 'x' && c != 'Y' && isVowel(s.w[n-2]) && !isVowel(s.w[n-3])
}

// plural is step 1a.
func (s *stemmer) plural() {
	switch n := len(s.w); {
	case s.ends("sses"):
		s.cut(2, "")
	case s.ends("ied"), s.ends("ies"):
		if n > 4 {
			s.cut(2, "")
		} else {
			s.cut(1, "")
		}
	case s.ends("us"), s.ends("ss"):
	case s.ends("s") && s.hasVowel(2):
		s.cut(1, "")
	}
}

// pastAndGerund is step 1b.
func (s *stemmer) pastAndGerund() {
	for _, suffix := range [...]string{"eedly", "eed"} {
		if s.ends(suffix) {
			if len(s.w)-len(suffix) >= s.r1 {
				s.cut(len(suffix), "ee")
			}
			return
		}
	}
	for _, suffix := range [...]string{"ingly", "edly", "ing", "ed"} {
		if !s.ends(suffix) {
			continue
		}
		if !s.hasVowel(len(suffix)) {
			return
		}
		s.cut(len(suffix), "")
		switch n := len(s.w); {
		case s.ends("at"), s.ends("bl"), s.ends("iz"):
			s.w = append(s.w, 'e')
		case n > 2 && s.w[n-1] == s.w[n-2] && s.endsDouble():
			s.cut(1, "")
		case s.r1 >= n && s.endsShort():
			s.w = append(s.w, 'e')
		}
		return
	}
}

func (s *stemmer) endsDouble() bool {
	switch s.w[len(s.w)-1] {
	case 'b', 'd', 'f', 'g', 'm', 'n', 'p', 'r', 't':
		return true
	}
	return false
}

// finalY is step 1c.
func (s *stemmer) finalY() {
	if n := len(s.w); n > 2 && (s.w[n-1] == 'y' || s.w[n-1] == 'Y') && !isVowel(s.w[n-2]) {
		s.w[n-1] = 'i'
	}
}

// A rule replaces a suffix.
type rule struct{ suffix, by string }

// replace applies the first rule with a suffix of the word, if the suffix begins at or after from.
// The rules are ordered: longer suffixes first.
func (s *stemmer) replace(from int, rules []rule) {
	for _, r := range rules {
		if s.ends(r.suffix) {
			if len(s.w)-len(r.suffix) >= from {
				s.cut(len(r.suffix), r.by)
			}
			return
		}
	}
}

// longSuffixes is step 2.
func (s *stemmer) longSuffixes() {
	if n := len(s.w); s.ends("ogi") && n-3 >= s.r1 && n > 3 && s.w[n-4] == 'l' {
		s.cut(1, "")
		return
	}
	if n := len(s.w); s.ends("li") && !s.ends("ousli") && !s.ends("entli") && !s.ends("lessli") && !s.ends("fulli") && !s.ends("alli") && !s.ends("bli") {
		if n-2 >= s.r1 && n > 2 {
			switch s.w[n-3] {
			case 'c', 'd', 'e', 'g', 'h', 'k', 'm', 'n', 'r', 't':
				s.cut(2, "")
			}
		}
		return
	}
	s.replace(s.r1, longRules)
}

var longRules = []rule{{"ational", "ate"}, {"fulness", "ful"}, {"iveness", "ive"}, {"ization", "ize"}, {"ousness", "ous"}, {"biliti", "ble"},
	{"lessli", "less"}, {"tional", "tion"}, {"alism", "al"}, {"aliti", "al"}, {"ation", "ate"}, {"entli", "ent"}, {"fulli", "ful"}, {"iviti", "ive"},
	{"ousli", "ous"}, {"abli", "able"}, {"alli", "al"}, {"anci", "ance"}, {"ator", "ate"}, {"enci", "ence"}, {"izer", "ize"}, {"bli", "ble"}}

// middleSuffixes is step 3.
func (s *stemmer) middleSuffixes() {
	if s.ends("ative") {
		if len(s.w)-5 >= s.r2 {
			s.cut(5, "")
		}
		return
	}
	s.replace(s.r1, middleRules)
}

var middleRules = []rule{{"ational", "ate"}, {"tional", "tion"}, {"alize", "al"}, {"icate", "ic"}, {"iciti", "ic"}, {"ical", "ic"}, {"ness", ""}, {"ful", ""}}

// shortSuffixes is step 4.
func (s *stemmer) shortSuffixes() {
	if n := len(s.w); s.ends("ion") {
		if n-3 >= s.r2 && n > 3 && (s.w[n-4] == 's' || s.w[n-4] == 't') {
			s.cut(3, "")
		}
		return
	}
	s.replace(s.r2, shortRules)
}

var shortRules = []rule{{"ement", ""}, {"able", ""}, {"ance", ""}, {"ence", ""}, {"ible", ""}, {"ment", ""}, {"ant", ""}, {"ate", ""}, {"ent", ""},
	{"ism", ""}, {"iti", ""}, {"ive", ""}, {"ize", ""}, {"ous", ""}, {"al", ""}, {"er", ""}, {"ic", ""}}

// finalE is step 5.
func (s *stemmer) finalE() {
	n := len(s.w)
	switch s.w[n-1] {
	case 'e':
		short := stemmer{w: s.w[:n-1]}
		if n-1 >= s.r2 || n-1 >= s.r1 && !short.endsShort() {
			s.cut(1, "")
		}
	case 'l':
		if n-1 >= s.r2 && n > 1 && s.w[n-2] == 'l' {
			s.cut(1, "")
		}
	}
}
