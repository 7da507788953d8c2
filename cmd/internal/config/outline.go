package config

import (
	"maps"
	"time"
)

// A form is what a value may be, in the words of JSON Schema (draft-07).
type form map[string]any

// An outline is what the reader says of a table's keys while it reads one. The decoder of a file has none; see [Schema].
type outline struct {
	known    []string // every key there may be, in the order of the table's reader
	forms    map[string]form
	required []string
	allOf    []any // what else has to hold of its keys
}

// outlineOf is what read, which reads the empty table it is given, says of its keys.
func outlineOf(read func(d *decoder, n node)) *outline {
	o := &outline{forms: map[string]form{}}
	d := newDecoder("schema.json", "/schema.json", Options{})
	d.outline = o
	read(d, node{value: []member{}})
	return o
}

// note adds to what the value of key may be.
func (t table) note(key string, f form) {
	o := t.d.outline
	if o == nil {
		return
	}
	if o.forms[key] == nil {
		o.forms[key] = form{}
	}
	maps.Copy(o.forms[key], f)
}

// need notes that the table has to have the key.
func (t table) need(key string) {
	if o := t.d.outline; o != nil {
		o.required = append(o.required, key)
	}
}

// needWith notes that the table has to have the key other if it has key.
func (t table) needWith(key, other string) {
	if o := t.d.outline; o != nil {
		o.allOf = append(o.allOf, form{"dependencies": form{key: []string{other}}})
	}
}

// needOne notes that the table has to have one of the keys.
func (t table) needOne(keys ...string) {
	var lists [][]string
	for _, key := range keys {
		lists = append(lists, []string{key})
	}
	t.needEither(lists...)
}

// needEither notes that the table has to have all keys of one of the lists.
func (t table) needEither(lists ...[]string) {
	o := t.d.outline
	if o == nil {
		return
	}
	var alternatives []any
	for _, keys := range lists {
		alternatives = append(alternatives, form{"required": keys})
	}
	o.allOf = append(o.allOf, form{"anyOf": alternatives})
}

// needUnless notes that the table has to have the key, unless another one has this value.
func (t table) needUnless(key, other, value string) {
	if o := t.d.outline; o != nil {
		o.allOf = append(o.allOf, form{"anyOf": []any{
			form{"required": []string{key}}, form{"required": []string{other}, "properties": form{other: form{"const": value}}}}})
	}
}

// apart notes that the table cannot have both keys.
func (t table) apart(a, b string) {
	if o := t.d.outline; o != nil {
		o.allOf = append(o.allOf, form{"not": form{"required": []string{a, b}}})
	}
}

// schema is the outline as the schema of a table.
func (o *outline) schema() form {
	f := form{"type": "object", "additionalProperties": false, "properties": o.forms}
	if len(o.required) > 0 {
		f["required"] = o.required
	}
	if len(o.allOf) > 0 {
		f["allOf"] = o.allOf
	}
	return f
}

// Forms that more than one key has.
func textForm() form   { return form{"type": "string"} }
func filledForm() form { return form{"type": "string", "pattern": `\S`} }
func stringsForm() form {
	return form{"type": "array", "items": form{"type": "string", "minLength": 1}}
}

func mapForm(values form) form { return form{"type": "object", "additionalProperties": values} }
func listForm(items form) form { return form{"type": "array", "items": items} }

// durationForm is what time.ParseDuration takes, or a number of seconds. Whether a string is in range only the reader can tell.
func durationForm(least time.Duration) form {
	return form{"anyOf": []any{
		form{"type": "string", "pattern": `^[+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`},
		form{"type": "number", "minimum": least.Seconds(), "maximum": maxDuration.Seconds()},
	}}
}
