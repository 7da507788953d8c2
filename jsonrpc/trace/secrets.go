package trace

import "slices"

// secrets are values that must not appear.
type secrets struct {
	lasting []string // each once
	lent    []string // each as often as it was lent
}

// add adds lasting ones, and reports whether any is new.
func (s *secrets) add(values []string) bool {
	known := len(s.lasting)
	for _, v := range values {
		if !slices.Contains(s.lasting, v) {
			s.lasting = append(s.lasting, v)
		}
	}
	return len(s.lasting) > known
}

func (s *secrets) lend(values []string) { s.lent = append(s.lent, values...) }

func (s *secrets) takeBack(values []string) {
	for _, v := range values {
		if i := slices.Index(s.lent, v); i >= 0 {
			s.lent = slices.Delete(s.lent, i, i+1)
		}
	}
}

func (s *secrets) patterns() *patterns { return newPatterns(slices.Concat(s.lasting, s.lent)) }
