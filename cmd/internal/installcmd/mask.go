package installcmd

import (
	"cmp"
	"slices"
	"strings"

	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/config/reference"
	"toolman/cmd/internal/translate"
)

const hidden = "•••"

// Hide notes values that Diff does not show.
func (p *Plan) Hide(values ...string) { p.secrets = append(p.secrets, values...) }

// hide hides the secrets of entries.
func (p *Plan) hide(entries []clients.Entry) {
	for _, e := range entries {
		for _, pair := range slices.Concat(e.Env, e.Headers, []clients.Pair{{Value: e.Command}, {Value: e.URL}}) {
			if translate.IsSecret(pair.Name, pair.Value) {
				p.Hide(pair.Value)
			}
		}
		for i := range e.Args {
			p.Hide(translate.SecretArgument(e.Args[:i+1]))
		}
	}
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
