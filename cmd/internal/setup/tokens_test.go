package setup

import (
	"testing"

	"toolman/jsonrpc/trace/redact"
)

func TestTheLastTwoTokensOfAServerAreSecret(t *testing.T) {
	secrets := redact.NewScrubber([]string{"lasting"})
	tokens := &tokens{secrets: secrets}
	for _, tt := range []struct{ issued, want string }{
		{"", "first second third"},
		{"first", "[redacted] second third"},
		{"first", "[redacted] second third"},
		{"second", "[redacted] [redacted] third"},
		{"third", "first [redacted] [redacted]"},
	} {
		if tt.issued != "" {
			tokens.issued(tt.issued, "")
		}
		if got := secrets.Text("first second third"); got != tt.want {
			t.Errorf("after %q: got %s, want %s", tt.issued, got, tt.want)
		}
	}
	tokens.end()
	if got := secrets.Text("first second third lasting"); got != "first second third [redacted]" {
		t.Errorf("at the end: %s", got)
	}
}
