package installcmd

import (
	"cmp"
	"slices"
	"strings"

	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/config/reference"
)

const hidden = "•••"

// hide notes what a diff must not show of entries: values of variables and headers that are
// secrets by their names, and arguments that look like tokens.
func (p *Plan) hide(entries []clients.Entry) {
	for _, e := range entries {
		for _, pair := range slices.Concat(e.Env, e.Headers) {
			if reference.IsSecretName(pair.Name) || LooksSecret(pair.Value) {
				p.secrets = append(p.secrets, pair.Value)
			}
		}
		for i, a := range e.Args {
			if LooksSecret(a) || i > 0 && strings.HasPrefix(e.Args[i-1], "-") && reference.IsSecretName(strings.TrimLeft(e.Args[i-1], "-")) {
				p.secrets = append(p.secrets, a)
			}
			if name, value, ok := strings.Cut(a, "="); ok && reference.IsSecretName(strings.TrimLeft(name, "-")) {
				p.secrets = append(p.secrets, value)
			}
		}
	}
}

// LooksSecret reports whether a value has the form of a known kind of token.
func LooksSecret(value string) bool {
	value = strings.TrimPrefix(value, "Bearer ")
	for _, prefix := range []string{"sk-", "sk_", "pk_", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xapp-", "AKIA", "ASIA", "AIza", "ya29.", "eyJ", "hf_", "npm_", "pypi-", "dop_v1_", "lin_api_", "ntn_", "secret_", "tvly-", "pplx-", "gsk_", "xai-"} {
		if strings.HasPrefix(value, prefix) && len(value) >= len(prefix)+12 {
			return true
		}
	}
	return false
}

// mask replaces secrets in a diff, and the values of all keys that are named like secrets: the lines
// around a change can be of anything.
func (p *Plan) mask(diff string) string {
	secrets := p.secrets
	// The longest first: one secret can begin with another.
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, s := range slices.Compact(secrets) {
		if len(s) >= 4 && !isReference(s) {
			diff = strings.ReplaceAll(diff, s, hidden)
		}
	}
	var b strings.Builder
	for line := range strings.Lines(diff) {
		b.WriteString(maskLine(line))
	}
	return b.String()
}

// maskLine hides the values of keys that are named like secrets.
func maskLine(line string) string {
	var b strings.Builder
	for rest := line; ; {
		sep := strings.IndexAny(rest, ":=")
		if sep < 0 {
			b.WriteString(rest)
			return b.String()
		}
		key := strings.TrimRight(rest[:sep], " \t\"'")
		key = key[strings.LastIndexAny(key, " \t\"',{+-.")+1:]
		value := strings.TrimLeft(rest[sep+1:], " \t")
		start := len(rest) - len(value)
		end := valueEnd(value)
		b.WriteString(rest[:start])
		if secretKey(key) && end > 0 && !isReference(strings.Trim(value[:end], `"'`)) {
			quote := ""
			if value[0] == '"' || value[0] == '\'' {
				quote = value[:1]
			}
			b.WriteString(quote + hidden + quote)
			rest = value[end:]
			continue
		}
		rest = value
	}
}

// isReference reports whether a value names a variable, in the syntax of any client.
func isReference(value string) bool {
	return strings.HasPrefix(value, "$") || strings.Contains(value, "${") || strings.HasPrefix(value, "{env:") || strings.HasPrefix(value, "%")
}

// secretKey reports whether a key is named like a secret. A few settings of clients are not.
func secretKey(key string) bool {
	return key != "" && reference.IsSecretName(key) && key != "env_keys"
}

// valueEnd returns the length of the value at the start of text, or 0 for one that holds others.
func valueEnd(text string) int {
	if text == "" || strings.ContainsAny(text[:1], "{[|>\r\n") {
		return 0
	}
	if q := text[0]; q == '"' || q == '\'' {
		for i := 1; i < len(text); i++ {
			if text[i] == '\\' {
				i++
			} else if text[i] == q {
				return i + 1
			}
		}
		return len(strings.TrimRight(text, "\r\n"))
	}
	if i := strings.IndexAny(text, ",}\r\n"); i >= 0 {
		return i
	}
	return len(text)
}
