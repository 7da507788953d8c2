package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// maxName is the longest name that all providers accept: 64 for OpenAI and Gemini, 128 for
// Anthropic, and 64 where others serve its models. Only Gemini accepts dots.
const maxName = 64

// Prefix is the start of the names of tools for models.
const Prefix = "mcp__"

// Name returns the name of a tool for models: mcp__SERVER__TOOL or, if a provider does not accept
// that or another tool could have it, a stable short form that ends in a hash.
func Name(server, tool string) string {
	full := Prefix + server + "__" + tool
	clean := cleaned(full)
	splits := !strings.Contains(server, "__") && !strings.HasSuffix(server, "_") && !strings.HasPrefix(tool, "_")
	if clean == full && len(full) <= maxName && splits {
		return full
	}
	return short(clean, server+"\x00"+tool)
}

// cleaned returns text with all characters except letters, digits, _ and - replaced by _.
func cleaned(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, text)
}

// short returns a name that ends in a hash of the full one.
func short(clean, of string) string {
	sum := sha256.Sum256([]byte(of))
	tail := "_" + hex.EncodeToString(sum[:4])
	return clean[:min(len(clean), maxName-len(tail))] + tail
}

// anthropicKey reports whether Anthropic accepts the name of a property: "Property keys should
// match pattern '^[a-zA-Z0-9_.-]{1,64}$'".
func anthropicKey(name string) bool { return isKey(name, "_.-") }

// geminiKey reports whether Gemini accepts the name of a property: ^[A-Za-z_][A-Za-z0-9_]{0,63}$.
func geminiKey(name string) bool { return isKey(name, "_") && (name[0] < '0' || name[0] > '9') }

// isKey reports whether name consists of 1 to 64 letters, digits and signs.
func isKey(name, signs string) bool {
	for _, c := range []byte(name) {
		if lower := c | 0x20; (lower < 'a' || lower > 'z') && (c < '0' || c > '9') && strings.IndexByte(signs, c) < 0 {
			return false
		}
	}
	return 0 < len(name) && len(name) <= 64
}

// renamed gives the properties of s names that the provider accepts, and removes other names from
// required. Restore reverses it.
func renamed(s schema, fits func(name string) bool) {
	properties, ok := s["properties"].(schema)
	if !ok {
		delete(s, "required")
		return
	}
	next := schema{}
	for name, value := range properties {
		next[plain(name, fits)] = value
	}
	s["properties"] = next
	required, _ := s["required"].([]any)
	var left []any
	for _, one := range required {
		if name, ok := one.(string); ok && properties[name] != nil {
			left = append(left, plain(name, fits))
		}
	}
	if s["required"] = left; left == nil {
		delete(s, "required")
	}
}

// plain returns the name of a property or, if it does not fit, a stable one that ends in a hash.
func plain(name string, fits func(name string) bool) string {
	if fits(name) {
		return name
	}
	clean := cleaned(name)
	if clean == "" || clean[0] >= '0' && clean[0] <= '9' || clean[0] == '-' {
		clean = "_" + clean
	}
	return short(clean, name)
}

// allRenamed is renamed for a schema and all schemas in it.
func allRenamed(s schema, fits func(name string) bool) schema {
	s = each(s, func(sub schema) schema { return allRenamed(sub, fits) })
	if _, ok := s["properties"].(schema); ok {
		renamed(s, fits)
	}
	return s
}

// Restore gives the arguments of a call their names in the tool's schema. The model may know them
// by other names.
func (c *Call) Restore(of json.RawMessage) {
	fits := geminiKey
	switch c.format {
	case Gemini:
	case Anthropic:
		fits = anthropicKey
	default:
		return
	}
	s, err := decode(of)
	if err != nil {
		return
	}
	names := map[string]string{} // of properties, by their names for models
	for sub := range allIn(s) {
		properties, _ := sub["properties"].(schema)
		for name := range properties {
			if known := plain(name, fits); known != name {
				names[known] = name
			}
		}
	}
	arguments, err := decode(c.Arguments)
	if err != nil || len(names) == 0 || !restore(arguments, names) {
		return
	}
	if text, err := encode(arguments); err == nil {
		c.Arguments = text
	}
}

// restore renames all properties in a value, and reports whether there were any to rename.
func restore(value any, names map[string]string) (found bool) {
	switch v := value.(type) {
	case schema:
		for known, one := range v {
			found = restore(one, names) || found
			if name, ok := names[known]; ok {
				delete(v, known)
				v[name], found = one, true
			}
		}
	case []any:
		for _, one := range v {
			found = restore(one, names) || found
		}
	}
	return found
}
