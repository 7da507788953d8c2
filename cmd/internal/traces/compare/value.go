package compare

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"toolman/cmd/internal/cli"
)

// mostDifferences is how many differences of a message are listed.
const mostDifferences = 200

// Values compares two JSON values at a path such as "result", and returns the differences that the
// rules do not ignore. A nil value is absent.
func (r *Rules) Values(root string, a, b json.RawMessage) []Difference {
	d := differ{rules: r}
	at := path{{key: root}}
	switch {
	case a == nil && b == nil:
	case a == nil:
		d.added(at, decode(b))
	case b == nil:
		d.removed(at, decode(a))
	default:
		d.values(at, decode(a), decode(b))
	}
	return d.found
}

// Responses compares two responses, each with a result or an error.
func (r *Rules) Responses(resultA, errorA, resultB, errorB json.RawMessage) []Difference {
	return append(r.Values("result", resultA, resultB), r.Values("error", errorA, errorB)...)
}

func decode(text json.RawMessage) (v any) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	if in.Decode(&v) != nil {
		return string(text)
	}
	return v
}

// A differ collects the differences of two values.
type differ struct {
	rules *Rules
	found []Difference
}

// values compares two values that are both there; null is a value.
func (d *differ) values(at path, a, b any) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			d.objects(at, x, y)
			return
		}
	case []any:
		if y, ok := b.([]any); ok {
			d.arrays(at, x, y)
			return
		}
	case json.Number:
		if y, ok := b.(json.Number); ok && sameNumber(x, y) {
			return
		}
	default:
		if a == b { // strings, booleans and null
			return
		}
	}
	d.differ(at, a, b)
}

func sameNumber(a, b json.Number) bool {
	x, errX := a.Float64()
	y, errY := b.Float64()
	return a == b || errX == nil && errY == nil && x == y && !isInteger(a, b)
}

// isInteger reports whether both are written as integers, which float64 may not tell apart.
func isInteger(a, b json.Number) bool {
	_, errA := strconv.ParseInt(string(a), 10, 64)
	_, errB := strconv.ParseInt(string(b), 10, 64)
	return errA == nil && errB == nil
}

func (d *differ) objects(at path, a, b map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if y, ok := b[key]; ok {
			d.values(at.member(key), a[key], y)
		} else {
			d.removed(at.member(key), a[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[key]; !ok {
			d.added(at.member(key), b[key])
		}
	}
}

// arrays compares lists of items by name, and others from both ends.
func (d *differ) arrays(at path, a, b []any) {
	if x, y := namesOf(a), namesOf(b); x != nil && y != nil {
		d.items(at, a, b, x, y)
		return
	}
	head := 0
	for head < min(len(a), len(b)) && len(a) != len(b) && d.equal(at, head, a[head], b[head]) {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && len(a) != len(b) && d.equal(at, len(a)-1-tail, a[len(a)-1-tail], b[len(b)-1-tail]) {
		tail++
	}
	a, b = a[head:len(a)-tail], b[head:len(b)-tail]
	for i := range max(len(a), len(b)) {
		p := at.element(strconv.Itoa(head + i))
		switch {
		case i >= len(b):
			d.removed(p, a[i])
		case i >= len(a):
			d.added(p, b[i])
		default:
			d.values(p, a[i], b[i])
		}
	}
}

// equal reports whether two elements have no difference that counts.
func (d *differ) equal(at path, i int, a, b any) bool {
	silent := differ{rules: &Rules{rules: d.rules.rules, count: make([]int, len(d.rules.rules))}}
	silent.values(at.element(strconv.Itoa(i)), a, b)
	return len(silent.found) == 0
}

// items compares two lists whose elements have names.
func (d *differ) items(at path, a, b []any, namesA, namesB []string) {
	inB := make(map[string]any, len(b))
	for i, name := range namesB {
		inB[name] = b[i]
	}
	var bothA, bothB []string
	inA := make(map[string]bool, len(a))
	for i, name := range namesA {
		inA[name] = true
		if y, ok := inB[name]; ok {
			bothA = append(bothA, name)
			d.values(at.element(name), a[i], y)
		} else {
			d.removed(at.element(name), a[i])
		}
	}
	for i, name := range namesB {
		if inA[name] {
			bothB = append(bothB, name)
		} else {
			d.added(at.element(name), b[i])
		}
	}
	if !slices.Equal(bothA, bothB) && !d.rules.ignore(at, bothA, bothB) {
		d.add(Difference{Path: at.String(), Order: true, A: cli.JSON(bothA), B: cli.JSON(bothB)})
	}
}

// namesOf returns how the elements of a list are named, such as "name=echo", or nil if they are not
// all objects with a name or URI of their own.
func namesOf(list []any) []string {
	for _, key := range []string{"name", "uri", "uriTemplate"} {
		seen := make(map[string]bool, len(list))
		names := make([]string, 0, len(list))
		for _, v := range list {
			object, _ := v.(map[string]any)
			if name, ok := object[key].(string); ok && !seen[name] {
				seen[name] = true
				names = append(names, key+"="+name)
			}
		}
		if len(names) == len(list) {
			return names
		}
	}
	return nil
}

func (d *differ) removed(at path, v any) {
	if !d.rules.ignore(at, v, nil) && !d.ignoresAll(at, v) {
		d.add(Difference{Path: at.String(), A: cli.JSON(v)})
	}
}

// ignoresAll reports whether the rules ignore all members of an object that only one side has.
func (d *differ) ignoresAll(at path, v any) bool {
	object, _ := v.(map[string]any)
	for key, value := range object {
		if p := at.member(key); !d.rules.ignore(p, value, nil) && !d.ignoresAll(p, value) {
			return false
		}
	}
	return len(object) > 0
}

func (d *differ) added(at path, v any) {
	if !d.rules.ignore(at, nil, v) && !d.ignoresAll(at, v) {
		d.add(Difference{Path: at.String(), B: cli.JSON(v)})
	}
}

func (d *differ) differ(at path, a, b any) {
	if !d.rules.ignore(at, a, b) {
		d.add(Difference{Path: at.String(), A: cli.JSON(a), B: cli.JSON(b)})
	}
}

func (d *differ) add(one Difference) {
	if len(d.found) < mostDifferences {
		d.found = append(d.found, one)
	}
}
