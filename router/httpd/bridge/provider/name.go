package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is the longest name that all providers take: OpenAI and Gemini say 64, Anthropic
// has 128, and 64 where others serve its models. Dots are only Gemini's.
const maxName = 64

// Name is what models call a tool: mcp__SERVER__TOOL, or where that is no name that all
// providers take, or could be another's, a stable short form that ends in a hash.
func Name(server, tool string) string {
	full := "mcp__" + server + "__" + tool
	clean := cleaned(full)
	splits := !strings.Contains(server, "__") && !strings.HasSuffix(server, "_") && !strings.HasPrefix(tool, "_")
	if clean == full && len(full) <= maxName && splits {
		return full
	}
	return short(clean, server+"\x00"+tool)
}

// cleaned is text with _ in place of what is no letter, digit, _ or -.
func cleaned(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, text)
}

// short is a name that ends in a hash of what it stands for.
func short(clean, of string) string {
	sum := sha256.Sum256([]byte(of))
	tail := "_" + hex.EncodeToString(sum[:4])
	return clean[:min(len(clean), maxName-len(tail))] + tail
}
