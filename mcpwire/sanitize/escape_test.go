package sanitize

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEscapes(t *testing.T) {
	for _, tt := range []struct{ name, text, lines, asJSON string }{
		{"plain", "a b\n\tc: é 日本\u3000語 😀", "a b\n\tc: é 日本\u3000語 😀", `"a b\n\tc: é 日本\u3000語 😀"`},
		{"control characters", "a\x1b[1mb\u009b1mc\x7f\x00\b", `a\u{1b}[1mb\u{9b}1mc\u{7f}\u{0}\u{8}`, `"a\u001b[1mb\u009b1mc\u007f\u0000\b"`},
		{"line ends", "a\r\nb\rc\u0085\u2028\u2029", "a\nb" + `\u{d}c\u{85}\u{2028}\u{2029}`, `"a\r\nb\rc\u0085\u2028\u2029"`},
		{"direction", "\u202a\u202e\u2066\u2069\u200e\u200f\u061c", `\u{202a}\u{202e}\u{2066}\u{2069}\u{200e}\u{200f}\u{61c}`, `"\u202a\u202e\u2066\u2069\u200e\u200f\u061c"`},
		{"no width", "\u200b\u200d\ufeff\u00ad\u2060\u034f\u3164\ufe0f\U000e0041\U000e0100", `\u{200b}\u{200d}\u{feff}\u{ad}\u{2060}\u{34f}\u{3164}\u{fe0f}\u{e0041}\u{e0100}`,
			`"\u200b\u200d\ufeff\u00ad\u2060\u034f\u3164\ufe0f\udb40\udc41\udb40\udd00"`},
		{"many marks", "e\u0301\u0301\u0301\u0301\u0301", "e\u0301\u0301\u0301\u0301" + `\u{301}`, "\"e\u0301\u0301\u0301\u0301\\u0301\""},
		{"not UTF-8", "a\x9bb", "a\uFFFDb", `"a\ufffdb"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Lines(tt.text); got != tt.lines {
				t.Errorf("got %q, want %q", got, tt.lines)
			}
			text, err := json.Marshal(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			got := JSON(string(text))
			if got != tt.asJSON {
				t.Errorf("as JSON: got %s, want %s", got, tt.asJSON)
			}
			var was, is string
			if json.Unmarshal(text, &was) != nil || json.Unmarshal([]byte(got), &is) != nil || was != is {
				t.Errorf("%s means %q instead of %q", got, is, was)
			}
		})
	}
	if got := JSON("{\r\n\t\"a\":\r1}"); !json.Valid([]byte(got)) {
		t.Errorf("white space between tokens: %q is not JSON", got)
	}
}

func TestVisible(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"plain", "a b é 日本 😀", "a b é 日本 😀"},
		{"control characters", "a\x1b[1m\tb\nc\u009b", `a\u{1b}[1m\u{9}b\u{a}c\u{9b}`},
		{"direction and width", "\u202e\u200b\ufe0f", `\u{202e}\u{200b}\u{fe0f}`},
		{"blanks other than a space", "x\u00a0\u3000\u2800y", `x\u{a0}\u{3000}\u{2800}y`},
		{"many spaces", strings.Repeat(" ", 34) + "x y", strings.Repeat(" ", 32) + `\u{20}\u{20}x y`},
		{"many marks", "e\u0301\u0301\u0301\u0301\u0301", "e\u0301\u0301\u0301\u0301" + `\u{301}`},
		{"an escape", `\u{200b}`, `\u{5c}u{200b}`},
	} {
		if got := Visible(tt.text); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
