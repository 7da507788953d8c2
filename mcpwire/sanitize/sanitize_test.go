package sanitize

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"plain text", "Reads a file: 50% <b> ü 語 🦊", "Reads a file: 50% <b> ü 語 🦊"},
		{"line ends", "a\nb\r\nc\vd\fe", "a b  c d e"},
		{"line ends beyond ASCII", "a\u0085b\u2028c\u2029d", "a b c d"},
		{"a tab, NUL and DEL", "a\tb\x00c\x7fd", "a b c d"},
		{"a terminal's commands", "\x1b[31mred\u009b0m", " [31mred 0m"},
		{"direction of writing", "a\u202eb\u2066c\u200fd\u061ce", "abcde"},
		{"what has no width", "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg", "abcdefg"},
		{"tags", "a\U000e0001\U000e0041\U000e0042\U000e007fb", "ab"},
		{"tags that are not assigned", "a\U000e0000\U000e0002b", "ab"},
		{"variation selectors, which can hide bytes", "a\ufe0fb\U000e0100\U000e01efc", "abc"},
		{"fillers", "a\u3164b\u115f\u1160c\uffa0d\u034fe", "abcde"},
		{"private use", "a\ue000b\U0010fffdc", "abc"},
		{"half a character", "a\xffb\xc3", "a?b?"},
		{"spaces of other widths", "a\u00a0b\u3000c\u2800d", "a b c d"},
		{"marks that cover other lines", "e" + strings.Repeat("\u0301", 9), "e" + strings.Repeat("\u0301", 4)},
		{"a character that is not assigned", "a\u0378b", "ab"},
		{"nothing", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Line(tt.text); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"as long as may be", strings.Repeat("a", 132), strings.Repeat("a", 132)},
		{"one too long", strings.Repeat("a", 133), strings.Repeat("a", 132)},
		{"characters of two bytes", strings.Repeat("ü", 140), strings.Repeat("ü", 132)},
		{"characters of four bytes", "a" + strings.Repeat("🦊", 140), "a" + strings.Repeat("🦊", 131)},
		{"what is not shown does not count", strings.Repeat("\u200ba", 140), strings.Repeat("a", 132)},
		{"several lines", "a\n* fs_rm: harmless\nTools:\n", "a * fs_rm: harmless Tools: "},
		{"very long", strings.Repeat("é", 1<<20), strings.Repeat("é", 132)},
		{"nothing", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Summary(tt.text)
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if !utf8.ValidString(got) {
				t.Error("half a character")
			}
		})
	}
}

func TestName(t *testing.T) {
	for name, want := range map[string]string{
		"fs_file:///a b.txt": "fs_file:///a b.txt", "{+path}": "{+path}", "/etc": "/etc", "_x": "_x", "ü://": "ü://", "1": "1",
		"* fs_rm": `"* fs_rm"`, "\u200b* fs_rm": `"* fs_rm"`, " * fs_rm": `" * fs_rm"`, "\n* fs_rm": `" * fs_rm"`, "＊ fs_rm": `"＊ fs_rm"`,
		"Tools:": `"Tools:"`, "fs_rm: harmless": `"fs_rm: harmless"`, `"fs_rm"`: `"\"fs_rm\""`, "\u200b": `""`,
	} {
		if got := Name(name); got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"äöü", 2, "äö…"}, {"äöü", 3, "äöü"}, {"äöü", 4, "äöü"}, {"", 0, ""}, {" a\nb\n", 9, " a b "},
		{strings.Repeat("é", 1<<20), 80, strings.Repeat("é", 80) + "…"},
	} {
		if got := Cut(tt.text, tt.n); got != tt.want {
			t.Errorf("%d of %q: got %q, want %q", tt.n, tt.text, got, tt.want)
		}
	}
}

func TestQuoted(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"", 5, `""`}, {"größe", 5, `"größe"`}, {"größer", 5, `"größe…"`}, {"a\"\n\x1b\u202e", 9, `"a\"\n\x1b\u202e"`},
		{"a\ufe0f\u3164\xff", 9, `"a\u{fe0f}\u{3164}\xff"`},
	} {
		if got := Quoted(tt.text, tt.n); got != tt.want {
			t.Errorf("%d of %q: got %s, want %s", tt.n, tt.text, got, tt.want)
		}
	}
}

func TestShort(t *testing.T) {
	for name, want := range map[string]string{
		"": `""`, "a\nb": "a b", strings.Repeat("ü", 300): strings.Repeat("ü", 200),
	} {
		if got := Short(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

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
