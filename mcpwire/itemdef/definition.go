package itemdef

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/gowebpki/jcs"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// defining are the members of an item that define it: its name, what a model or a person reads to
// decide about it, and the schemas.
var defining = [mcpwire.Kinds][]string{
	mcpwire.Tool:     {"name", "title", "description", "inputSchema", "outputSchema", "annotations"},
	mcpwire.Resource: {"uri", "name", "title", "description", "mimeType", "annotations"},
	mcpwire.Template: {"uriTemplate", "name", "title", "description", "mimeType", "annotations"},
	mcpwire.Prompt:   {"name", "title", "description", "arguments"},
}

// optional are the other members that items have in some revision of MCP (2024-11-05 to
// 2026-07-28).
var optional = [mcpwire.Kinds][]string{
	mcpwire.Tool:     {"icons", "_meta", "execution"},
	mcpwire.Resource: {"icons", "_meta", "size"},
	mcpwire.Template: {"icons", "_meta"},
	mcpwire.Prompt:   {"icons", "_meta"},
}

// UnknownMembers returns the sorted names of the item's members that no revision of MCP has.
// Clients get them; Of leaves them out.
func UnknownMembers(it *mcpwire.Item) []string {
	var unknown []string
	for key := range jsonrpc.Members(it.Raw, jsonrpc.Span{Hi: len(it.Raw)}) {
		if !slices.Contains(defining[it.Kind], key) && !slices.Contains(optional[it.Kind], key) {
			unknown = append(unknown, key)
		}
	}
	slices.Sort(unknown)
	return slices.Compact(unknown)
}

// Of returns the item's definition in canonical JSON (RFC 8785): the same bytes whatever the order
// of members, white space, escapes and spelling of numbers that the server used. It is an object of
// these members as the server gave them:
//
//	tool                name title description inputSchema outputSchema annotations
//	resource            uri name title description mimeType annotations
//	resource template   uriTemplate name title description mimeType annotations
//	prompt              name title description arguments
//
// A member that is null, and annotations that are empty, count as absent. Left out is what may
// change without making another item of it: size and annotations.lastModified, which describe the
// content; icons, which are often links that expire; _meta; execution, which only one era has; and
// members that MCP does not have. toolman's namespace is not part of the definition.
//
// An ambiguous item has no definition: one with a member given twice or in a spelling that looks
// alike, with text that is not Unicode, or with numbers beyond IEEE double precision.
func Of(it *mcpwire.Item) ([]byte, error) {
	m := jsonrpc.Message{Frame: it.Raw}
	keys := defining[it.Kind]
	found := make([]jsonrpc.Member, len(keys))
	if err := m.Find(jsonrpc.Span{Hi: len(it.Raw)}, keys, found); err != nil {
		return nil, err
	}
	var members [][]byte
	for i, key := range keys {
		value := m.Bytes(found[i].Value)
		if key == "annotations" {
			value = lasting(it.Kind, value)
		}
		if len(value) > 0 && string(value) != "null" {
			members = append(members, fmt.Appendf(nil, `"%s":%s`, key, value))
		}
	}
	canonical, err := Canonical(fmt.Appendf(nil, "{%s}", bytes.Join(members, []byte(","))))
	if err != nil {
		return nil, fmt.Errorf("its definition has no canonical form: %w", err)
	}
	return canonical, nil
}

// Canonical returns a JSON value in canonical form (RFC 8785), or why it has none.
func Canonical(value []byte) ([]byte, error) { return jcs.Transform(value) }

// lasting returns annotations without those that describe the content of a resource, nil if there
// are none.
func lasting(k mcpwire.Kind, annotations []byte) []byte {
	if len(annotations) == 0 || annotations[0] != '{' {
		return annotations
	}
	if k.IsURI() {
		m, whole := jsonrpc.Message{Frame: annotations}, jsonrpc.Span{Hi: len(annotations)}
		var gone []jsonrpc.Member
		for member := range m.Walk(whole) {
			if string(m.Text(jsonrpc.Span{Lo: member.Key.Lo - 1, Hi: member.Key.Hi + 1})) == "lastModified" {
				gone = append(gone, member)
			}
		}
		annotations = jsonrpc.AppendSplice(nil, annotations, jsonrpc.AppendRemoval(nil, annotations, whole, gone...)...)
	}
	if len(bytes.TrimSpace(annotations[1:len(annotations)-1])) == 0 {
		return nil
	}
	return annotations
}

// RefID returns the reference of an item with this definition: "sha256:" and the hash of the
// definition in hexadecimal.
func RefID(definition []byte) string {
	sum := sha256.Sum256(definition)
	return "sha256:" + hex.EncodeToString(sum[:])
}
