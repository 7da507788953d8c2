package sanitize

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzSanitize(f *testing.F) {
	f.Add("Reads a file: 50% <b> ü 語 🦊", 5)
	f.Add("a\x1b[31m\u009b0m\r\n\u202e\u200b\ufe0f\U000e0041\u3164\ue000\xff", 7)
	f.Add(`\u{200b}`+strings.Repeat(" ", 40)+strings.Repeat("\u0301", 9), 0)
	f.Add("{\r\n\"\u2028\": \"\U000e0001\"}", 3)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = max(0, min(n, 300))
		for name, got := range map[string]string{
			"Line": Line(text), "Cut": Cut(text, n), "Short": Short(text), "Summary": Summary(text), "Name": Name(text),
			"Quoted": Quoted(text, n), "Visible": Visible(text),
		} {
			if !utf8.ValidString(got) || strings.ContainsFunc(got, isHidden) {
				t.Errorf("%s of %q is %q", name, text, got)
			}
		}
		if line := Line(text); len(line) > len(text) || Line(line) != line {
			t.Errorf("line of %q: %q, and again %q", text, line, Line(line))
		}
		if got := utf8.RuneCountInString(Cut(text, n)); got > n+1 {
			t.Errorf("%d of %q has %d characters", n, text, got)
		}
		if got := unescape(t, Visible(text)); got != valid(text) {
			t.Errorf("visible %q means %q", text, got)
		}
		if strings.ContainsFunc(Lines(text), func(r rune) bool { return isHidden(r) && Lines(string(r)) != string(r) }) {
			t.Errorf("lines of %q: %q", text, Lines(text))
		}
		var was, is any
		if text = valid(text); json.Unmarshal([]byte(text), &was) == nil {
			if err := json.Unmarshal([]byte(JSON(text)), &is); err != nil || mustEncode(t, was) != mustEncode(t, is) {
				t.Errorf("%q became %q", text, JSON(text))
			}
		}
	})
}

// unescape undoes Visible.
func unescape(t *testing.T, text string) string {
	return regexp.MustCompile(`\\u\{[0-9a-f]+\}`).ReplaceAllStringFunc(text, func(s string) string {
		n, err := strconv.ParseUint(s[3:len(s)-1], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		return string(rune(n))
	})
}

func mustEncode(t *testing.T, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
