package mcpwire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/gowebpki/jcs"

	"toolman/jsonrpc"
)

// UnknownMembers returns the sorted names of the item's members that no revision of MCP has.
// Clients get these members, but Definition leaves them out.
func (it *Item) UnknownMembers() []string {
	var unknown []string
	for key := range jsonrpc.Members(it.Raw, jsonrpc.Span{Hi: len(it.Raw)}) {
		if !slices.Contains(facts[it.Kind].defining, key) && !slices.Contains(facts[it.Kind].optional, key) {
			unknown = append(unknown, key)
		}
	}
	slices.Sort(unknown)
	return slices.Compact(unknown)
}

// Definition returns the item's definition in canonical JSON (RFC 8785). It is the same for any
// order of members, white space, escapes and spelling of numbers that the server uses. It is an
// object of the defining members (see facts), as the server gave them.
//
// A member that is null counts as absent, and so do annotations that are empty. The definition
// leaves out what may change while the item stays the same: size and annotations.lastModified,
// which describe the content; icons, which are often links that expire; _meta; execution, which
// only one era has; and members that MCP does not have. toolman's namespace is not part of it.
//
// An ambiguous item has no definition: one with a repeated member or one in a spelling that looks
// alike, with text that is not Unicode, or with numbers beyond IEEE double precision.
func (it *Item) Definition() ([]byte, error) {
	m := jsonrpc.Message{Frame: it.Raw}
	keys := facts[it.Kind].defining
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

// lasting returns annotations without those that describe the content of a resource, or nil if
// there are no others.
func lasting(k Kind, annotations []byte) []byte {
	if len(annotations) == 0 || annotations[0] != '{' {
		return annotations
	}
	if k.IsURI() {
		edits := without(nil, annotations, jsonrpc.Span{Hi: len(annotations)}, "lastModified")
		annotations = jsonrpc.AppendSplice(nil, annotations, edits...)
	}
	if len(bytes.TrimSpace(annotations[1:len(annotations)-1])) == 0 {
		return nil
	}
	return annotations
}

// Nameless returns a definition of this kind without the name or URI that the server gives the
// item. It stays the same if the server renames the item and changes nothing else.
func (k Kind) Nameless(definition []byte) []byte {
	edits := without(nil, definition, jsonrpc.Span{Hi: len(definition)}, facts[k].texts[0])
	return jsonrpc.AppendSplice(nil, definition, edits...)
}

// RefID returns the reference of an item with this definition: "sha256:" and the hash of the
// definition in hexadecimal.
func RefID(definition []byte) string {
	sum := sha256.Sum256(definition)
	return "sha256:" + hex.EncodeToString(sum[:])
}
