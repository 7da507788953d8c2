package pins

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"toolman/mcpwire/sanitize"
)

// A Field is one place in a definition that differs.
type Field struct {
	Path     string   // such as inputSchema.properties.path.type
	Old, New []string // the lines of its text, fit to be printed; nil: it is not there
}

// Fields returns where two definitions differ, in the order of their members. nil is the definition that says nothing.
func Fields(old, now json.RawMessage) []Field {
	d := &differ{}
	d.compare("", decode(old), decode(now))
	return d.fields
}

// decode returns a definition as a tree; numbers stay as they are written.
func decode(definition json.RawMessage) any {
	if definition == nil {
		return map[string]any{}
	}
	dec := json.NewDecoder(bytes.NewReader(definition))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return map[string]any{}
	}
	return tree
}

// absent is the value of a member that is not there.
type absent struct{}

type differ struct{ fields []Field }

func (d *differ) compare(path string, old, now any) {
	oldObject, isObject := old.(map[string]any)
	nowObject, areObjects := now.(map[string]any)
	oldList, isList := old.([]any)
	nowList, areLists := now.([]any)
	switch {
	case isObject && areObjects:
		d.objects(path, oldObject, nowObject)
	case isList && areLists:
		d.lists(path, oldList, nowList)
	case !reflect.DeepEqual(old, now):
		plain := reads(old) && reads(now)
		d.fields = append(d.fields, Field{path, text(old, plain), text(now, plain)})
	}
}

func (d *differ) objects(path string, old, now map[string]any) {
	all := maps.Clone(old)
	maps.Copy(all, now)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		d.compare(member(path, key), valueOf(old, key), valueOf(now, key))
	}
}

func valueOf(object map[string]any, key string) any {
	if value, ok := object[key]; ok {
		return value
	}
	return absent{}
}

// lists compares what stands between the equal elements at both ends, pair by pair.
func (d *differ) lists(path string, old, now []any) {
	from := 0
	for from < len(old) && from < len(now) && reflect.DeepEqual(old[from], now[from]) {
		from++
	}
	end := 0
	for end < len(old)-from && end < len(now)-from && reflect.DeepEqual(old[len(old)-1-end], now[len(now)-1-end]) {
		end++
	}
	element := func(list []any, i int) any {
		if i < len(list)-end {
			return list[i]
		}
		return absent{}
	}
	for i := from; i < max(len(old), len(now))-end; i++ {
		d.compare(fmt.Sprintf("%s[%d]", path, i), element(old, i), element(now, i))
	}
}

// isPlain reports whether a key can stand in a path as it is.
func isPlain(key string) bool {
	other := strings.IndexFunc(key, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9') && !strings.ContainsRune("_$-", c)
	})
	return other < 0 && key != "" && key[0] != '-' && (key[0] < '0' || key[0] > '9')
}

// member is the path of a member of what is at path.
func member(path, key string) string {
	if !isPlain(key) {
		key = "[" + sanitize.Visible(compact(key)) + "]"
	} else if path != "" {
		key = "." + key
	}
	return path + key
}

// reads reports whether a value can be shown as the text that it is: not so where a number could be taken for a string.
func reads(value any) bool {
	_, none := value.(absent)
	s, is := value.(string)
	return none || is && s != ""
}

// text is a value as lines: a string as it reads, or anything as JSON.
func text(value any, plain bool) []string {
	if _, none := value.(absent); none {
		return nil
	}
	if !plain {
		return []string{sanitize.Visible(compact(value))}
	}
	lines := strings.Split(value.(string), "\n")
	for i := range lines {
		lines[i] = sanitize.Visible(lines[i])
	}
	return lines
}

func compact(value any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
