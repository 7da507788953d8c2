package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
)

// A Change is an item that differs from its pin.
type Change struct {
	ItemKey
	Old, New *Pin // nil: the item had no pin; the item is gone

	// Alike is the name of the new item with the definition of this gone one, but for the name, or
	// the other way round. "" if there is none, or more than one.
	Alike string
}

// ComparePins returns how now differs from old, in the order of the file. An item that another
// server offers has not changed: tools.toml decides which server that is.
func ComparePins(old, now Pins) []Change {
	all := Pins{}
	maps.Copy(all, old)
	maps.Copy(all, now)
	var changes []Change
	for _, k := range all.Keys() {
		c := Change{ItemKey: *k}
		if p, had := old[*k]; had {
			c.Old = &p
		}
		if p, has := now[*k]; has {
			c.New = &p
		}
		if c.Old == nil || c.New == nil || c.Old.RefID != c.New.RefID {
			changes = append(changes, c)
		}
	}
	findRenamed(changes)
	return changes
}

// findRenamed sets Alike.
func findRenamed(changes []Change) {
	type shape struct {
		kind  mcpwire.Kind
		refID string
	}
	gone, added := map[shape][]*Change{}, map[shape][]*Change{}
	note := func(of map[shape][]*Change, c *Change, p *Pin) {
		if p.Definition != nil {
			s := shape{c.Kind, mcpwire.RefID(c.Kind.Nameless(p.Definition))}
			of[s] = append(of[s], c)
		}
	}
	for i := range changes {
		switch c := &changes[i]; {
		case c.New == nil:
			note(gone, c, c.Old)
		case c.Old == nil:
			note(added, c, c.New)
		}
	}
	for s, old := range gone {
		if now := added[s]; len(old) == 1 && len(now) == 1 {
			old[0].Alike, now[0].Alike = now[0].Name, old[0].Name
		}
	}
}

// Line returns the change on one line, such as "~ tool fs_move_file (changed)".
func (c Change) Line() string {
	mark, word := "~", "changed"
	switch alike := sanitize.Visible(c.Alike); {
	case c.Old == nil && alike != "":
		mark, word = "+", "new, defined as "+alike+" was, but for the name"
	case c.Old == nil:
		mark, word = "+", "new"
	case c.New == nil && alike != "":
		mark, word = "-", "gone; "+alike+" may be what it has become"
	case c.New == nil:
		mark, word = "-", "gone"
	}
	return fmt.Sprintf("%s %s (%s)", mark, sanitize.Visible(c.ItemKey.String()), word)
}

// Print writes a change for people: a line with the item and the kind of change, and below it,
// unless the item is gone or only has another name, every field that differs, old lines after a -,
// new ones after a +.
func (c Change) Print(out io.Writer) error {
	var b strings.Builder
	pin := cmp.Or(c.New, c.Old)
	fmt.Fprintf(&b, "%s, server %s)\n", strings.TrimSuffix(c.Line(), ")"), sanitize.Visible(pin.Server))
	switch {
	case c.New == nil || c.Alike != "":
	case c.New.Definition == nil || c.Old != nil && c.Old.Definition == nil:
		fmt.Fprintf(&b, "    a definition of more than %d KiB is not kept, so there is nothing to compare it with\n", maxDefinition>>10)
	default:
		d := differ{&b}
		var old json.RawMessage
		if c.Old != nil {
			old = c.Old.Definition
		}
		d.compare("", decode(old), decode(c.New.Definition))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// decode returns a definition as a tree in which numbers stay as they are written.
func decode(definition json.RawMessage) any {
	dec := json.NewDecoder(bytes.NewReader(definition))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return map[string]any{}
	}
	return tree
}

// absent is the value of a member that does not exist.
type absent struct{}

// A differ prints where two definitions differ, in the order of their members.
type differ struct{ out *strings.Builder }

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
		plain := isText(old) && isText(now)
		d.print(path, lines(old, plain), lines(now, plain))
	}
}

func (d *differ) objects(path string, old, now map[string]any) {
	all := maps.Clone(old)
	maps.Copy(all, now)
	valueOf := func(object map[string]any, key string) any {
		if value, ok := object[key]; ok {
			return value
		}
		return absent{}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		d.compare(member(path, key), valueOf(old, key), valueOf(now, key))
	}
}

// lists compares, pair by pair, what stands between the equal elements at both ends.
func (d *differ) lists(path string, old, now []any) {
	from, end := equalEnds(old, now)
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

// print prints the lines of a field that differ.
func (d *differ) print(path string, old, now []string) {
	fmt.Fprintf(d.out, "    %s\n", path)
	from, end := equalEnds(old, now)
	for _, l := range old[from : len(old)-end] {
		fmt.Fprintf(d.out, "      - %s\n", l)
	}
	for _, l := range now[from : len(now)-end] {
		fmt.Fprintf(d.out, "      + %s\n", l)
	}
}

// equalEnds returns how many elements at the start, and of the others at the end, are equal.
func equalEnds[T any](a, b []T) (start, end int) {
	n := min(len(a), len(b))
	for start < n && reflect.DeepEqual(a[start], b[start]) {
		start++
	}
	for end < n-start && reflect.DeepEqual(a[len(a)-1-end], b[len(b)-1-end]) {
		end++
	}
	return start, end
}

// member returns the path of a member of the object at path. A key that could be confused with
// syntax is quoted.
func member(path, key string) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$"
	if key == "" || !strings.Contains(letters, key[:1]) || strings.Trim(key, letters+"0123456789-") != "" {
		return path + "[" + sanitize.Visible(string(cli.JSON(key))) + "]"
	}
	if path != "" {
		key = "." + key
	}
	return path + key
}

// isText reports whether a value can be printed without quotes: it is a string that is not empty,
// or absent.
func isText(value any) bool {
	_, none := value.(absent)
	s, is := value.(string)
	return none || is && s != ""
}

// lines returns a value as printable lines: the text of a string if plain is set, otherwise JSON.
func lines(value any, plain bool) []string {
	if _, none := value.(absent); none {
		return nil
	}
	if !plain {
		return []string{sanitize.Visible(string(cli.JSON(value)))}
	}
	lines := strings.Split(value.(string), "\n")
	for i := range lines {
		lines[i] = sanitize.Visible(lines[i])
	}
	return lines
}
