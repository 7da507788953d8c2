package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// policyOf returns the Content-Security-Policy of a page: it may run and use nothing but the
// scripts and styles in it, and it makes no markup from text. more are further directives.
func policyOf(html []byte, more string) string {
	policy := []string{
		"default-src 'none'",
		"script-src" + hashes(html, "script"),
		"style-src" + hashes(html, "style"),
		"img-src data:",
		"base-uri 'none'",
		"form-action 'none'",
		"require-trusted-types-for 'script'",
		"trusted-types 'none'",
	}
	if more != "" {
		policy = append(policy, more)
	}
	return strings.Join(policy, "; ")
}

// hashes returns the sources for the elements of a name that are in a page.
func hashes(html []byte, element string) string {
	var all strings.Builder
	for {
		_, rest, found := bytes.Cut(html, []byte("<"+element))
		if !found {
			break
		}
		_, rest, _ = bytes.Cut(rest, []byte(">"))
		text, after, _ := bytes.Cut(rest, []byte("</"+element+">"))
		sum := sha256.Sum256(text)
		all.WriteString(" 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'")
		html = after
	}
	if all.Len() == 0 {
		return " 'none'"
	}
	return all.String()
}
