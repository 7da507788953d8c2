package provider

import (
	"reflect"
	"slices"
)

// both is what a and b say of the same property, under allOf or anyOf.
func both(key string, a, b any) any {
	if reflect.DeepEqual(a, b) {
		return a
	}
	if key == "anyOf" {
		if one, ok := choice(a, b); ok {
			return one
		}
	}
	all := []any{a}
	if s, ok := a.(schema); ok && len(s) == 1 {
		if parts, ok := s[key].([]any); ok {
			all = slices.Clone(parts)
		}
	}
	if !slices.ContainsFunc(all, func(one any) bool { return reflect.DeepEqual(one, b) }) {
		all = append(all, b)
	}
	return schema{key: all}
}

// choice is one enum for two: alternatives tell themselves apart by such properties.
func choice(a, b any) (schema, bool) {
	first, typeOfFirst := options(a)
	second, typeOfSecond := options(b)
	if first == nil || second == nil || typeOfFirst != typeOfSecond {
		return nil, false
	}
	all := slices.Clone(first)
	for _, value := range second {
		if !slices.Contains(all, value) {
			all = append(all, value)
		}
	}
	one := schema{"enum": all}
	if typeOfFirst != "" {
		one["type"] = typeOfFirst
	}
	return one, true
}

// options are the values that a schema lists, if it says nothing else but their type. They
// are strings, numbers and the like.
func options(v any) (values []any, name string) {
	s, _ := v.(schema)
	for key, value := range s {
		switch key {
		case "const":
			values = []any{value}
		case "enum":
			values, _ = value.([]any)
		case "type":
			name, _ = value.(string)
		default:
			return nil, ""
		}
	}
	if slices.ContainsFunc(values, func(v any) bool { return v != nil && !reflect.TypeOf(v).Comparable() }) {
		return nil, ""
	}
	return values, name
}
