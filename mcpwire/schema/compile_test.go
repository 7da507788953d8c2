package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"toolman/fixtures/jsonschema"
)

// TestTheLibraryAgrees compares toolman's own validator with a library: on all samples and
// examples, and on each of them with one member or element left out or replaced.
func TestTheLibraryAgrees(t *testing.T) {
	valid, invalid := 0, 0
	both := func(text []byte) (Validator, error) {
		text = withoutFormats(t, text)
		own, err := Compile(text)
		if err != nil {
			return nil, err
		}
		library, err := jsonschema.Compile(text)
		if err != nil {
			return nil, err
		}
		return func(definition string, value any) error {
			err, other := own(definition, value), library(definition, value)
			if (err == nil) != (other == nil) {
				t.Errorf("%s %v: own %v, library %v", definition, value, err, other)
			}
			if err == nil {
				valid++
			} else {
				invalid++
			}
			return err
		}, nil
	}
	checkers := map[string]*Checker{}
	for _, revision := range append(Legacy(), Modern) {
		checkers[revision] = load(t, revision, both)
	}
	all := samples
	for _, example := range examples(t, checkers[Modern]) {
		for revision := range checkers {
			example.revision = revision
			all = append(all, example)
		}
	}
	for _, one := range all {
		for _, frame := range variants([]byte(one.frame)) {
			_ = checkers[one.revision].Frame(one.d, frame, one.method) // TestFrames looks at that
		}
	}
	if t.Logf("%d valid, %d invalid", valid, invalid); valid < 1000 || invalid < 1000 {
		t.Error("that is not much of a comparison")
	}
}

// withoutFormats takes formats out of a schema.
func withoutFormats(t *testing.T, text []byte) []byte {
	t.Helper()
	doc, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if _, ok := v["format"].(string); ok {
				delete(v, "format")
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(doc)
	text, err = json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// variants returns a frame, and what it is with one part left out or replaced.
func variants(frame []byte) [][]byte {
	all := [][]byte{frame}
	root, err := decode(frame)
	if err != nil {
		return all
	}
	note := func() {
		text, _ := json.Marshal(root) // it came as JSON
		all = append(all, text)
	}
	others := []any{nil, true, json.Number("0"), json.Number("2.5"), json.Number("1e0"), "x", []any{}, map[string]any{}, map[string]any{"type": "text"}}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				was := v[name]
				delete(v, name)
				note()
				for _, v[name] = range others {
					note()
				}
				v[name] = was
				walk(was)
			}
			v["more"] = json.Number("1")
			note()
			delete(v, "more")
		case []any:
			for i, was := range v {
				for _, v[i] = range others {
					note()
				}
				v[i] = was
				walk(was)
			}
		}
	}
	walk(root)
	return all
}
