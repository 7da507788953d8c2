package spawn

import (
	"slices"
	"testing"
)

func TestEnviron(t *testing.T) {
	for _, tt := range []struct {
		name              string
		base, extra, want []string
	}{
		{"nothing", nil, nil, []string{}},
		{"joined in order", []string{"A=1", "B=2"}, []string{"C=3"}, []string{"A=1", "B=2", "C=3"}},
		{"extra wins in the place of base", []string{"A=1", "B=2"}, []string{"A=3"}, []string{"A=3", "B=2"}},
		{"last wins within base", []string{"A=1", "B=2", "A=3"}, nil, []string{"A=3", "B=2"}},
		{"empty value", []string{"A=1"}, []string{"A="}, []string{"A="}},
		{"value with equal signs", []string{"A=x=y"}, nil, []string{"A=x=y"}},
		{"no entries", []string{"", "A", "="}, nil, []string{}},
		{"a longer key", []string{"A=1", "AB=2"}, nil, []string{"A=1", "AB=2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Environ(tt.base, tt.extra); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
