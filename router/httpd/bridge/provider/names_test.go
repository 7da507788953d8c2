package provider

import (
	"regexp"
	"strings"
	"testing"
)

func TestNamesOfPropertiesAreTakenAsTheProvidersSay(t *testing.T) {
	for _, p := range []struct {
		form  string
		takes func(string) bool
	}{
		{`^[A-Za-z_][A-Za-z0-9_]{0,63}$`, geminiKey},
		{`^[a-zA-Z0-9_.-]{1,64}$`, anthropicKey},
	} {
		form := regexp.MustCompile(p.form)
		names := []string{"", strings.Repeat("a", 64), strings.Repeat("a", 65), "ä", "a\n", "a\xff"}
		for c := range 256 {
			names = append(names, string([]byte{byte(c)}), string([]byte{'a', byte(c)}))
		}
		for _, name := range names {
			if got := p.takes(name); got != form.MatchString(name) {
				t.Errorf("%s takes %q: %v", p.form, name, got)
			}
		}
	}
}
