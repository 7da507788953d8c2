package provider

import (
	"encoding/json"
	"regexp"
	"sync"
)

// anthropicKey is how Anthropic wants properties called: "Property keys should match pattern
// '^[a-zA-Z0-9_.-]{1,64}$'". Gemini documents its own.
var (
	anthropicKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`) })
	geminiKey    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`) })
)

// renamed gives the properties of s names of the form, and leaves of what is required what
// is a property. Restore undoes it.
func renamed(s schema, form *regexp.Regexp) {
	properties, ok := s["properties"].(schema)
	if !ok {
		delete(s, "required")
		return
	}
	next := schema{}
	for name, value := range properties {
		next[plain(name, form)] = value
	}
	s["properties"] = next
	required, _ := s["required"].([]any)
	var left []any
	for _, one := range required {
		if name, ok := one.(string); ok && properties[name] != nil {
			left = append(left, plain(name, form))
		}
	}
	if s["required"] = left; left == nil {
		delete(s, "required")
	}
}

// plain is a property's name, or a stable one that ends in a hash if that is not of the form.
func plain(name string, form *regexp.Regexp) string {
	if form.MatchString(name) {
		return name
	}
	clean := cleaned(name)
	if clean == "" || clean[0] >= '0' && clean[0] <= '9' || clean[0] == '-' {
		clean = "_" + clean
	}
	return short(clean, name)
}

// allRenamed is renamed for a schema and all in it.
func allRenamed(s schema, form *regexp.Regexp) schema {
	s = each(s, func(sub schema) schema { return allRenamed(sub, form) })
	if _, ok := s["properties"].(schema); ok {
		renamed(s, form)
	}
	return s
}

// Restore gives the arguments of a call the names that the tool's schema has for them, where
// the model knows them by others.
func (c *Call) Restore(of json.RawMessage) {
	form := geminiKey()
	switch c.format {
	case Gemini:
	case Anthropic:
		form = anthropicKey()
	default:
		return
	}
	s, err := decode(of)
	if err != nil {
		return
	}
	names := map[string]string{}
	collect(s, form, names)
	arguments, err := decode(c.Arguments)
	if err != nil || len(names) == 0 || !restore(arguments, names) {
		return
	}
	if text, err := encode(arguments); err == nil {
		c.Arguments = text
	}
}

// collect finds the properties of a schema that models know by other names.
func collect(s schema, form *regexp.Regexp, names map[string]string) {
	properties, _ := s["properties"].(schema)
	for name := range properties {
		if known := plain(name, form); known != name {
			names[known] = name
		}
	}
	each(s, func(sub schema) schema {
		collect(sub, form, names)
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
