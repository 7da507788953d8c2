package httpheader

import (
	"net/http"
	"strings"
)

// Limits of what is read of the challenges in a response.
const (
	maxChallenges     = 16
	maxChallengeBytes = 8 << 10
)

// A Challenge says how a server wants to be authorized (RFC 9110, 11.6.1).
type Challenge struct {
	Scheme string            // in lower case
	Params map[string]string // by names in lower case; values without quotes
}

// Challenges returns the challenges of a response with the status 401 or 403, in their order. It
// leaves out what is malformed, credentials in the form of token68, and the second of two
// parameters with the same name. Commas between parameters may be missing.
func Challenges(h http.Header) []Challenge {
	p := challengeParser{}
	left := maxChallengeBytes
	for _, line := range h.Values("WWW-Authenticate") {
		p.text, p.open = line[:min(len(line), left)], false
		left -= len(p.text)
		for p.next() {
		}
	}
	return p.all
}

// Bearer returns the challenge of the scheme Bearer (RFC 6750, 3). Of several, it is the first with
// resource_metadata (RFC 9728, 5.1).
func Bearer(all []Challenge) (first Challenge, ok bool) {
	for _, c := range all {
		switch {
		case c.Scheme != "bearer":
		case c.Params["resource_metadata"] != "":
			return c, true
		case !ok:
			first, ok = c, true
		}
	}
	return first, ok
}

// A challengeParser reads one line of challenges.
type challengeParser struct {
	text string // that is not read yet
	all  []Challenge
	open bool // the last of all is of this line, so that parameters belong to it
}

// next reads a scheme or a parameter. It returns false at the end.
func (p *challengeParser) next() bool {
	p.text = strings.TrimLeft(p.text, ", \t")
	if p.text == "" {
		return false
	}
	name := p.token()
	spaces := len(p.text)
	p.text = strings.TrimLeft(p.text, " \t")
	spaces -= len(p.text)
	switch {
	case name == "":
		p.skip()
	case strings.HasPrefix(p.text, "="):
		p.text = strings.TrimLeft(p.text[1:], " \t")
		if value, ok := p.value(); ok && p.open {
			p.param(strings.ToLower(name), value)
		}
	case len(p.all) == maxChallenges:
		return false
	case spaces > 0 || p.text == "" || p.text[0] == ',':
		p.all, p.open = append(p.all, Challenge{strings.ToLower(name), map[string]string{}}), true
		p.skipToken68()
	default:
		p.skip()
	}
	return true
}

// param adds a parameter to the last challenge.
func (p *challengeParser) param(name, value string) {
	params := p.all[len(p.all)-1].Params
	if _, twice := params[name]; !twice {
		params[name] = value
	}
}

// token reads a token; "" if there is none.
func (p *challengeParser) token() string {
	n := 0
	for n < len(p.text) && IsToken(p.text[n:n+1]) {
		n++
	}
	token := p.text[:n]
	p.text = p.text[n:]
	return token
}

// value reads the value of a parameter.
func (p *challengeParser) value() (value string, ok bool) {
	if !strings.HasPrefix(p.text, `"`) {
		value = p.token()
		if ok = value != "" && (p.text == "" || strings.ContainsRune(", \t", rune(p.text[0]))); !ok {
			p.skip()
		}
		return value, ok
	}
	var unquoted strings.Builder
	ok = true
	for i := 1; i < len(p.text); i++ {
		c := p.text[i]
		switch {
		case c == '"':
			p.text = p.text[i+1:]
			return unquoted.String(), ok
		case c == '\\' && i+1 < len(p.text):
			i++
			c = p.text[i]
		}
		ok = ok && (c >= ' ' || c == '\t') && c != 0x7f
		unquoted.WriteByte(c)
	}
	p.text = "" // the end quote is missing
	return "", false
}

// skipToken68 skips the credentials that may follow a scheme in place of parameters.
func (p *challengeParser) skipToken68() {
	rest := strings.TrimLeft(p.text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/")
	if rest == p.text {
		return
	}
	rest = strings.TrimLeft(strings.TrimLeft(rest, "="), " \t")
	if rest == "" || rest[0] == ',' {
		p.text = rest
	}
}

// skip continues behind the next comma that is not quoted.
func (p *challengeParser) skip() {
	quoted := false
	for i := 0; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == ',' && !quoted:
			p.text = p.text[i+1:]
			return
		}
	}
	p.text = ""
}
