package trace_test

import (
	"testing"

	"toolman/jsonrpc/trace"
)

func TestAScrubberTakesSecretsOutOfText(t *testing.T) {
	s := trace.NewScrubber([]string{"hunter22", "two words…"})
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
	s := trace.NewScrubber([]string{"hunter22"})
	s.Add("swordfish", "hunter22")
	if got, want := s.Text("hunter22 and swordfish"), "[redacted] and [redacted]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
