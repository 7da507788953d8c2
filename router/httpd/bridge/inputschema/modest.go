package inputschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Bounds on schemas that are read. The library reads a schema again at each level, and
// notes where each of its schemas is.
const (
	maxBytes  = 256 << 10
	maxLevels = 64      // of nesting
	maxValues = 10_000  // of JSON in it
	maxPlaces = 4 << 20 // bytes of the paths to all of them
	maxWhole  = 1 << 53 // whole numbers below are exact in the library, which has float64
)

// modest returns why a schema is not one that the library may be given.
func modest(text []byte) error {
	if len(text) == 0 || len(text) > maxBytes {
		return errors.New("the schema is missing or too long")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil {
		return err
	}
	switch doc.(type) {
	case map[string]any, bool:
	default:
		return errors.New("a schema is an object, true or false")
	}
	m := measure{keywords: keywords()}
	m.add(doc, false, 0, 0)
	switch {
	case m.values > maxValues || m.places > maxPlaces || m.levels > maxLevels:
		return errors.New("the schema is too large or too deep")
	case m.strange != "":
		return fmt.Errorf("the library misunderstands %s", m.strange)
	}
	return nil
}

// keywords are those that the library knows.
func keywords() []string {
	all := []string{"type", "items", "dependencies"} // which it reads apart
	for _, field := range reflect.VisibleFields(reflect.TypeFor[jsonschema.Schema]()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "-" {
			all = append(all, name)
		}
	}
	return all
}

// A measure is how large a JSON value is.
type measure struct {
	keywords               []string
	values, levels, places int
	strange                string // what the library misunderstands
}

// add adds a value at so many levels, at the end of a path of so many bytes. The names of
// an object are keywords, or else those of properties or definitions.
func (m *measure) add(v any, names bool, level, path int) {
	m.values++
	m.places += path
	m.levels = max(m.levels, level)
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if !names && m.misread(name, member) {
				m.strange = strconv.Quote(name)
			}
			m.add(member, !names && namesBelow(name), level+1, path+1+len(name))
		}
	case []any:
		for _, element := range v {
			m.add(element, false, level+1, path+8)
		}
	case json.Number:
		if f, err := v.Float64(); err != nil || math.Abs(f) >= maxWhole {
			m.strange = "numbers that are not exact as float64"
		}
	}
}

// misread reports whether the library takes a keyword for another: it reads null as false
// in these places, and capitals are the same to it.
func (m *measure) misread(name string, v any) bool {
	if name == "items" && v == nil {
		return true
	}
	return !slices.Contains(m.keywords, name) && slices.ContainsFunc(m.keywords, func(k string) bool { return strings.EqualFold(k, name) })
}

// namesBelow reports whether a keyword is for an object of schemas.
func namesBelow(keyword string) bool {
	switch keyword {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		return true
	}
	return false
}
