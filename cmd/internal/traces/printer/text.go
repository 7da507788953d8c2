package printer

import (
	"fmt"
	"slices"
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

// join joins the parts that are not empty.
func join(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// pad pads text to a width, on the right if that is negative. It does not cut longer text.
func pad(text string, width int) string {
	n := utf8.RuneCountInString(text)
	if width < 0 {
		return text + strings.Repeat(" ", max(0, -width-n))
	}
	return strings.Repeat(" ", max(0, width-n)) + text
}

// since formats the time since the start of the run.
func since(us int64) string { return fmt.Sprintf("+%d.%03d", us/1e6, us/1e3%1e3) }

// duration formats microseconds with about three digits.
func duration(us int64) string {
	switch {
	case us < 1_000:
		return fmt.Sprintf("%dµs", us)
	case us < 10_000:
		return fmt.Sprintf("%.2fms", float64(us)/1e3)
	case us < 1_000_000:
		return fmt.Sprintf("%dms", us/1e3)
	case us < 100_000_000:
		return fmt.Sprintf("%.2fs", float64(us)/1e6)
	}
	return fmt.Sprintf("%ds", us/1e6)
}

// size formats a number of bytes with about three digits.
func size(n int) string {
	switch {
	case n < 1_000:
		return fmt.Sprintf("%dB", n)
	case n < 100_000:
		return fmt.Sprintf("%.1fKB", float64(n)/1e3)
	case n < 1_000_000:
		return fmt.Sprintf("%dKB", n/1e3)
	}
	return fmt.Sprintf("%.1fMB", float64(n)/1e6)
}
