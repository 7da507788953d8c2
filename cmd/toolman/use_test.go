package main

import (
	"maps"
	"testing"
)

func TestArgumentsFlag(t *testing.T) {
	f := argumentsFlag{}
	for _, argument := range []string{`a="x", y=z`, "b=", "a b=1"} {
		if err := f.Set(argument); err != nil {
			t.Error(err)
		}
	}
	if want := (argumentsFlag{"a": `"x", y=z`, "b": "", "a b": "1"}); !maps.Equal(f, want) {
		t.Errorf("%q", f)
	}
	if f.Set("a") == nil {
		t.Error("an argument without a value was accepted")
	}
}
