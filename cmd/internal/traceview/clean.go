package traceview

import (
	"strings"
	"unicode/utf8"

	"toolman/mcpwire/sanitize"
)

// clean makes text of a peer safe to print on one line, with the escapes of JSON.
func clean(s string) string {
	return cleanJSON([]byte(strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(s)))
}

// cleanJSON does so with JSON on one line; it stays JSON with the same meaning.
func cleanJSON(p []byte) string {
	return strings.ReplaceAll(sanitize.JSON(string(p)), "\t", " ")
}

// shorten cuts s to n characters.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
