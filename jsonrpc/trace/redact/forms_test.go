package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A spelling is how a program may write a secret.
type spelling struct {
	name  string
	write func(secret string) string
}

// spellings are all that are recognised.
var spellings = []spelling{
	{"plain", func(s string) string { return s }},
	{"JSON", packed},
	{"JSON in JSON", func(s string) string { return packed(packed(s)) }},
	{"Go's quotes", func(s string) string { return strconv.Quote(s) }},
	{"a URL's query, + for space", url.QueryEscape},
	{"a URL's path", url.PathEscape},
	{"a URL, lower case digits", func(s string) string { return percent.ReplaceAllStringFunc(url.PathEscape(s), strings.ToLower) }},
	{"a URL, every byte escaped", func(s string) string { return each(s, "%%%02X") }},
	{"a URL, only what has to be", func(s string) string {
		return strings.NewReplacer("%", "%25", " ", "%20", "&", "%26", "+", "%2b").Replace(s)
	}},
	{"HTML", html.EscapeString},
	{"HTML, named", func(s string) string {
		return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;", "$", "&dollar;", "/", "&sol;").Replace(s)
	}},
	{"HTML, decimal", func(s string) string { return eachRune(s, "&#%d;") }},
	{"HTML, hexadecimal", func(s string) string { return eachRune(s, "&#x%X;") }},
	{"shell's backslashes", func(s string) string { return special.ReplaceAllString(s, `\$0`) }},
	{`\xHH`, func(s string) string { return each(s, `\x%02x`) }},
	{"hex", func(s string) string { return hex.EncodeToString([]byte(s)) }},
	{"HEX", func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }},
	{"base64", func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }},
	{"base64 without padding", func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) }},
	{"base64 of URLs", func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }},
	{"base64 in a URL", func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) }},
	{"base64 of a text of 3n bytes and it", func(s string) string { return base64.StdEncoding.EncodeToString([]byte("user: " + s + "!")) }},
	{"base64 of a text of 3n+1 bytes and it", func(s string) string { return base64.URLEncoding.EncodeToString([]byte("a:b:" + s + "?~")) }},
	{"base64 of a text of 3n+2 bytes and it", func(s string) string { return base64.StdEncoding.EncodeToString([]byte("user:" + s)) }},
	{"base64 in lines", func(s string) string { return lined(base64.StdEncoding.EncodeToString([]byte(long+s+long)), 76, "\n") }},
	{"base64 in lines of CR and LF", func(s string) string {
		return lined(base64.StdEncoding.EncodeToString([]byte(long+s+long)), 64, "\r\n")
	}},
	{"hex in lines", func(s string) string { return lined(hex.EncodeToString([]byte(long+s+long)), 60, "\n") }},
}

// canary holds what every one of the encodings writes differently.
const canary = "Zq9?>k~/\"Wk\\ %41&+<x>='é;$😀"

// unlike is of the same size, and has only its ends in common with it: those a character of base64
// may hold bits of.
var unlike = "Z" + strings.Repeat("\x00", len(canary)-len("Z😀")) + "😀"

var (
	percent = regexp.MustCompile(`%..`)
	special = regexp.MustCompile(`[^0-9A-Za-z\x80-\x{10ffff}]`)
	long    = strings.Repeat(".", 40)
)

func packed(s string) string {
	text, _ := json.Marshal(s)
	return string(text[1 : len(text)-1])
}

func each(s, format string) (out string) {
	for i := range len(s) {
		out += fmt.Sprintf(format, s[i])
	}
	return out
}

func eachRune(s, format string) (out string) {
	for _, r := range s {
		out += fmt.Sprintf(format, r)
	}
	return out
}

// lined breaks a text into lines, so that one begins in the middle of what stands in its middle.
func lined(s string, width int, end string) (out string) {
	for len(s) > width {
		out, s = out+s[:width]+end, s[width:]
	}
	return out + s
}

// tellsOf is what a text has of a secret that is spelled so: four characters in a row that would be
// others for another secret.
func tellsOf(spelled, other, text string) string {
	for i := 0; i+4 <= len(spelled); i++ {
		if part := spelled[i : i+4]; strings.Contains(text, part) && !strings.Contains(other, part) {
			return part
		}
	}
	return ""
}

func TestEncodedSecretsAreTakenOut(t *testing.T) {
	for _, as := range spellings {
		t.Run(as.name, func(t *testing.T) {
			spelled, other := as.write(canary), as.write(unlike)
			s := NewScrubber([]string{"another", canary})
			quoted, _ := json.Marshal(map[string]string{"text": "of it: " + spelled + " .", "n": "1"})
			nested, _ := json.Marshal(map[string]string{"content": string(quoted)})
			for where, text := range map[string]string{
				"text":         s.Text("of it: " + spelled + " ."),
				"JSON":         string(s.JSON(quoted)),
				"JSON in JSON": string(s.JSON(nested)),
			} {
				if !strings.Contains(text, "of it: ") || !strings.Contains(text, "[redacted]") || !strings.Contains(text, " .") {
					t.Errorf("%s: %s", where, text)
				}
				if part := tellsOf(spelled, other, text); part != "" {
					t.Errorf("%s tells %q of %q: %s", where, part, spelled, text)
				}
			}
			if out := s.JSON(nested); !json.Valid(out) {
				t.Errorf("no JSON any more: %s", out)
			}
		})
	}
}

// Wherever a text is cut, nothing is left of an encoded secret that could not be recognized.
func TestCutEncodedSecretLeavesNothing(t *testing.T) {
	for _, as := range spellings {
		t.Run(as.name, func(t *testing.T) {
			spelled, other := as.write(canary), as.write(unlike)
			r := Redactor{Patterns: newPatterns([]string{canary})}
			quoted, _ := json.Marshal(map[string]string{"a": "---- " + spelled + " ----"})
			for what, msg := range map[string]string{"JSON": string(quoted), "text": "---- " + spelled + " ----"} {
				for cut := 8; cut < len(msg); cut++ {
					out, _ := r.Text([]byte(msg[:cut]), true)
					got := string(out)
					if part := tellsOf(spelled, other, got); part != "" {
						t.Fatalf("%s cut after %d tells %q of %q: %s", what, cut, part, msg[:cut], got)
					}
				}
			}
		})
	}
}

// What only looks alike stays.
func TestWhatIsNoEncodedSecretStays(t *testing.T) {
	for _, tt := range []struct{ name, secret, text string }{
		{"base64 of a short one", "port", "cG9ydA== " + base64.StdEncoding.EncodeToString([]byte("a port!"))},
		{"hex of a short one", "port", hex.EncodeToString([]byte("port"))},
		{"percent signs and ampersands", "hunter22", "100 % of R&D; &c. & %zz &hunter; &#; &#x; &#99999999; %"},
		{"lines of prose", "hunter22", strings.Repeat("words of a line ", 5) + "hunter\n22"},
		{"short lines of base64", "hunter22", "aHVu\ndGVyMjI="},
		{"unlike escapes", "hunter22", `hunter%2g2 hunter&#50 2 \hunte\r22`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := NewScrubber([]string{tt.secret}).Text(tt.text); got != tt.text {
				t.Errorf("%q became %q", tt.text, got)
			}
		})
	}
}

func TestNeighborsOfEncodedSecretsKeepTheirSpelling(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"URL", "/a%20b?k=h%75nter2%32%21&l=%41", "/a%20b?k=[redacted]%21&l=%41"},
		{"HTML", "&lt;b&gt;hunter&#50;&#X32;&amp;&lt;", "&lt;b&gt;[redacted]&amp;&lt;"},
		{"a URL in JSON", `{"u":"\u0041%20\/h%75nter22\n"}`, `{"u":"\u0041%20\/[redacted]\n"}`},
		{"escapes of two kinds at once", `{"u":"\nh\u0025\u0037\u0035nter22%41"}`, `{"u":"\n[redacted]%41"}`},
		{"Basic", "Basic dXNlcjpodW50ZXIyMg==", "Basic dXNlcjp[redacted]g=="},
		{"base64 in JSON, slashes escaped", `{"a":"Pz8\/aHVudGVyMjI="}`, `{"a":"Pz8\/[redacted]I="}`},
		{"hex", "0x68756e7465723232ff", "0x[redacted]ff"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := NewScrubber([]string{"hunter22"}).Text(tt.text); got != tt.want {
				t.Errorf("%q became %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestAVeryLongSecretIsOnlyKnownAsItIs(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 257)
	s := NewScrubber([]string{long})
	if got := s.Text("a " + long + " " + url.PathEscape(long+"/")); got != "a [redacted] [redacted]%2F" {
		t.Errorf("got %.100q", got)
	}
	if text := hex.EncodeToString([]byte(long)); s.Text(text) != text {
		t.Error("the hexadecimal of a secret of 4,112 bytes is looked for")
	}
}
