package inputschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// The types of values that can be long. The library writes values into its errors, also
// into those that come to nothing because an alternative fits; these write nothing.
type (
	object map[string]any
	array  []any
	text   string
)

// Format implements fmt.Formatter.
func (object) Format(fmt.State, rune) {}

// Format implements fmt.Formatter.
func (array) Format(fmt.State, rune) {}

// Format implements fmt.Formatter.
func (text) Format(fmt.State, rune) {}

// decode reads arguments; false when they have what the library could not judge: a number
// that is beyond float64, or an integer that has no exact type in Go.
func decode(arguments []byte) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil, false
	}
	return typed(v)
}

func typed(v any) (_ any, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if v[name], ok = typed(member); !ok {
				return nil, false
			}
		}
		return object(v), true
	case []any:
		for i, element := range v {
			if v[i], ok = typed(element); !ok {
				return nil, false
			}
		}
		return array(v), true
	case string:
		return text(v), true
	case json.Number:
		return number(string(v))
	}
	return v, true
}

func number(literal string) (any, bool) {
	if i, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return i, true
	}
	if u, err := strconv.ParseUint(literal, 10, 64); err == nil {
		return u, true
	}
	f, err := strconv.ParseFloat(literal, 64)
	return f, err == nil && strings.ContainsAny(literal, ".eE")
}
