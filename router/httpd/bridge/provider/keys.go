package provider

import (
	"encoding/json"
	"strings"
)

// anthropicKey reports whether Anthropic takes a property's name: "Property keys should match
// pattern '^[a-zA-Z0-9_.-]{1,64}$'".
func anthropicKey(name string) bool { return isKey(name, "_.-") }

// geminiKey is what Gemini documents: ^[A-Za-z_][A-Za-z0-9_]{0,63}$.
func geminiKey(name string) bool { return isKey(name, "_") && (name[0] < '0' || name[0] > '9') }

// isKey reports whether name is 1 to 64 letters, digits and signs.
func isKey(name, signs string) bool {
	for _, c := range []byte(name) {
		if lower := c | 0x20; (lower < 'a' || lower > 'z') && (c < '0' || c > '9') && strings.IndexByte(signs, c) < 0 {
			return false
		}
	}
	return 0 < len(name) && len(name) <= 64
}

// renamed gives the properties of s names that fit, and leaves of what is required what
// is a property. Restore undoes it.
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

// plain is a property's name, or a stable one that ends in a hash if that does not fit.
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

// allRenamed is renamed for a schema and all in it.
func allRenamed(s schema, fits func(name string) bool) schema {
	s = each(s, func(sub schema) schema { return allRenamed(sub, fits) })
	if _, ok := s["properties"].(schema); ok {
		renamed(s, fits)
	}
	return s
}

// Restore gives the arguments of a call the names that the tool's schema has for them, where
// the model knows them by others.
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
	names := map[string]string{}
	collect(s, fits, names)
	arguments, err := decode(c.Arguments)
	if err != nil || len(names) == 0 || !restore(arguments, names) {
		return
	}
	if text, err := encode(arguments); err == nil {
		c.Arguments = text
	}
}

// collect finds the properties of a schema that models know by other names.
func collect(s schema, fits func(name string) bool, names map[string]string) {
	properties, _ := s["properties"].(schema)
	for name := range properties {
		if known := plain(name, fits); known != name {
			names[known] = name
		}
	}
	each(s, func(sub schema) schema {
		collect(sub, fits, names)
		return sub
	})
}

// restore renames what a value has in it, and reports whether there was anything.
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
