package mcpwire

import (
	"slices"
	"strings"

	"toolman/jsonrpc"
)

// maxSchemaDepth is the depth to which an output schema is searched for references.
const maxSchemaDepth = 64

// AppendWith appends the item with edits of Raw.
func (it *Item) AppendWith(dst []byte, edits ...jsonrpc.Edit) []byte {
	return jsonrpc.AppendSplice(dst, it.Raw, edits...)
}

// Rename returns the edit that shows the item under another name.
func (it *Item) Rename(name string) jsonrpc.Edit {
	return jsonrpc.Edit{Span: it.at, New: jsonrpc.AppendQuoted(nil, name)}
}

var toolKeys = [...]string{"outputSchema", "execution"}

// tool returns the members of a tool that differ between the eras. They are absent if one is
// repeated.
func (it *Item) tool() (m jsonrpc.Message, whole jsonrpc.Span, schema, execution jsonrpc.Member) {
	m = jsonrpc.Message{Frame: it.Raw}
	whole = jsonrpc.Span{Hi: len(it.Raw)}
	var found [len(toolKeys)]jsonrpc.Member
	if it.Kind != Tool || m.Find(whole, toolKeys[:], found[:]) != nil {
		return m, whole, jsonrpc.Member{}, jsonrpc.Member{}
	}
	return m, whole, found[0], found[1]
}

// ToModern appends edits that turn a legacy server's item into one for a modern client. tasksOnly
// says that the tool can only be called as a task (2025-11-25, Tasks), which modern clients cannot
// do.
func (it *Item) ToModern(edits []jsonrpc.Edit) (out []jsonrpc.Edit, tasksOnly bool) {
	m, whole, _, execution := it.tool()
	support, err := stringMember(&m, execution.Value, "taskSupport")
	tasksOnly = err == nil && string(m.Text(support)) == "required"
	return jsonrpc.AppendRemoval(edits, m.Frame, whole, execution), tasksOnly
}

// ToLegacy appends edits that turn a modern server's item into one for a legacy client. In the
// legacy era the output schema of a tool must describe an object (2025-11-25, Tools), and some
// clients drop the whole list because of one bad schema. ToLegacy makes any other schema that of a
// member "result" of an object. wrapped says that results of the tool must be wrapped in the same
// way.
func (it *Item) ToLegacy(edits []jsonrpc.Edit) (out []jsonrpc.Edit, wrapped bool) {
	m, whole, schema, execution := it.tool()
	edits = jsonrpc.AppendRemoval(edits, m.Frame, whole, execution)
	if !m.IsObject(schema.Value) {
		return edits, false
	}
	kind, err := m.Get(schema.Value, "type")
	if err != nil || string(m.Text(kind)) == "object" {
		return edits, false
	}
	at := schema.Value
	edits = append(edits,
		jsonrpc.Edit{Span: jsonrpc.Span{Lo: at.Lo, Hi: at.Lo}, New: []byte(`{"type":"object","properties":{"result":`)},
		jsonrpc.Edit{Span: jsonrpc.Span{Lo: at.Hi, Hi: at.Hi}, New: []byte(`},"required":["result"]}`)})
	return moveReferences(edits, &m, at, false, 0), true
}

// moveReferences appends edits that adapt the references in a schema to the schema's new place,
// because references start at the root of the document. names says that the keys of the object at
// obj are names, and not keywords.
func moveReferences(edits []jsonrpc.Edit, m *jsonrpc.Message, obj jsonrpc.Span, names bool, depth int) []jsonrpc.Edit {
	if depth > maxSchemaDepth || !names && hasOwnID(m, obj) {
		return edits
	}
	for key, at := range jsonrpc.Members(m.Frame, obj) {
		switch {
		case names:
			edits = descend(edits, m, at, false, depth)
		case key == "$ref" || key == "$dynamicRef":
			if ref := string(m.Text(at)); ref == "#" || strings.HasPrefix(ref, "#/") {
				edits = append(edits, jsonrpc.Edit{Span: at, New: jsonrpc.AppendQuoted(nil, "#/properties/result"+ref[1:])})
			}
		case key == "const" || key == "enum" || key == "default" || key == "examples": // values, not schemas
		default:
			edits = descend(edits, m, at, slices.Contains(schemaMaps[:], key), depth)
		}
	}
	return edits
}

// descend looks for references in a value of a schema.
func descend(edits []jsonrpc.Edit, m *jsonrpc.Message, at jsonrpc.Span, names bool, depth int) []jsonrpc.Edit {
	if m.IsObject(at) {
		return moveReferences(edits, m, at, names, depth+1)
	}
	for element := range jsonrpc.Elements(m.Frame, at) {
		if m.IsObject(element) {
			edits = moveReferences(edits, m, element, false, depth+1)
		}
	}
	return edits
}

// hasOwnID reports whether a schema has an ID of its own. References in it then start there (JSON
// Schema 2020-12, 8.2.1).
func hasOwnID(m *jsonrpc.Message, schema jsonrpc.Span) bool {
	id, err := m.Get(schema, "$id")
	return err == nil && m.IsString(id) && !strings.HasPrefix(string(m.Text(id)), "#")
}

// schemaMaps are the keywords whose value is an object of schemas by name.
var schemaMaps = [...]string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
