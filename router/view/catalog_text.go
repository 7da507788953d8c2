package view

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
)

var catalogKinds = [...]struct {
	title string
	kinds []mcpwire.Kind
}{
	{"Tools:\n", []mcpwire.Kind{mcpwire.Tool}},
	{"Resources:\n", []mcpwire.Kind{mcpwire.Resource, mcpwire.Template}},
}

// CatalogText returns the whole catalog as plain text.
func CatalogText(v *View) string {
	var text string
	quoted := append(AppendCatalog([]byte{'"'}, v, 0), '"')
	if err := json.Unmarshal(quoted, &text); err != nil {
		return ""
	}
	return text
}

// AppendCatalog appends the catalog, escaped for JSON: one line per item, active items marked with
// *. If it is longer than room bytes (0: no limit), active items come first, and the items that do
// not fit are counted per server.
func AppendCatalog(dst []byte, v *View, room int) []byte {
	if !Fits(v, room) {
		return appendTruncated(dst, v, room)
	}
	for _, part := range catalogKinds {
		start := len(dst)
		dst = jsonrpc.AppendEscaped(dst, part.title)
		empty := len(dst)
		for _, k := range part.kinds {
			for _, e := range v.Catalog.Entries(k) {
				dst = appendLine(dst, v, e)
			}
		}
		if len(dst) == empty {
			dst = dst[:start]
		}
	}
	for i := range v.Catalog.Absent {
		dst = append(jsonrpc.AppendEscaped(dst, v.Catalog.Absent[i].Line()), `\n`...)
	}
	return dst
}

// Fits reports whether the catalog is not longer than room bytes (0: no limit).
func Fits(v *View, room int) bool { return room <= 0 || catalogSize(v) <= room }

func appendLine(dst []byte, v *View, e *catalog.Entry) []byte {
	if len(e.Line) == 0 { // it is of no use to a model
		return dst
	}
	if v.Active(e) {
		dst = append(dst, "* "...)
	}
	return append(dst, e.Line...)
}

func catalogSize(v *View) int {
	size := 2 * len("Resources:\n")
	for i := range v.Catalog.Absent {
		size += len(v.Catalog.Absent[i].Line()) + len(`\n`)
	}
	for _, part := range catalogKinds {
		for _, k := range part.kinds {
			for _, e := range v.Catalog.Entries(k) {
				size += len("* ") + len(e.Line)
			}
		}
	}
	return size
}

// appendTruncated appends as many lines as fit, active items first, and then the number of omitted
// items per server.
func appendTruncated(dst []byte, v *View, room int) []byte {
	shown, absent := countsRoom, absentText(v)
	shown += len(absent)
	hidden := map[*catalog.Source]int{}
	for _, active := range []bool{true, false} {
		for _, part := range catalogKinds {
			for _, k := range part.kinds {
				for _, e := range v.Catalog.Entries(k) {
					if v.Active(e) != active || len(e.Line) == 0 {
						continue
					}
					if shown += len(e.Line) + 2; shown > room {
						hidden[e.Source]++
						continue
					}
					dst = appendLine(dst, v, e)
				}
			}
		}
	}
	return jsonrpc.AppendEscaped(dst, countsText(v, hidden)+absent)
}

// countsRoom is the number of bytes reserved for the counts.
const countsRoom = 240

func countsText(v *View, hidden map[*catalog.Source]int) string {
	var counts []string
	for _, u := range v.Catalog.Offering() {
		if n := hidden[u]; n > 0 {
			counts = append(counts, fmt.Sprintf("%s %d", u.Name, n))
		}
	}
	if len(counts) == 0 {
		return ""
	}
	text := strings.Join(counts, ", ")
	return "More, not shown here: " + sanitize.Cut(text, countsRoom-60) + "\n"
}

// absentRoom is the number of bytes for the servers that are not available, if the catalog is
// truncated.
const absentRoom = 160

// absentText returns the names of the servers that are not available, with the reason if there is
// one such server.
func absentText(v *View) string {
	switch absent := v.Catalog.Absent; len(absent) {
	case 0:
		return ""
	case 1:
		return absent[0].Line() + "\n"
	default:
		var names []string
		for _, a := range absent {
			names = append(names, a.Source.Name)
		}
		return "Servers that are not available: " + sanitize.Cut(strings.Join(names, ", "), absentRoom-40) + "\n"
	}
}
