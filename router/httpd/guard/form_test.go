package guard

import (
	"regexp"
	"strings"
	"testing"
)

func TestFormsOfHeadersAreThoseOfTheirExpressions(t *testing.T) {
	for _, f := range []struct {
		form string
		has  func(string) bool
	}{
		{`^[!-+\--~]{1,128}$`, isClientID},
		{`^[A-Za-z0-9_.-]{1,64}$`, isToolset},
		{"^[A-Za-z0-9!#$%&'*+.^_`|~, -]+$", isTokenList},
	} {
		form := regexp.MustCompile(f.form)
		texts := []string{"", "ä", "a\n", "a\xff"}
		for _, n := range []int{64, 65, 128, 129} {
			texts = append(texts, strings.Repeat("a", n))
		}
		for c := range 256 {
			texts = append(texts, string([]byte{byte(c)}), string([]byte{'a', byte(c)}))
		}
		for _, text := range texts {
			if got := f.has(text); got != form.MatchString(text) {
				t.Errorf("%s has %q: %v", f.form, text, got)
			}
		}
	}
}
