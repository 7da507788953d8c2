package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"

	"toolman/mcpwire"
)

// A key identifies a result. Equal keys are equal requests of one client to one connection, between
// two changes.
type key [sha256.Size]byte

// maxParams is the length of parameters up to which a request is looked up.
const maxParams = 64 << 10

// passing are members of _meta that differ between calls and mean nothing to the tool: how the
// client, its log or its tracing identifies the call.
var passing = []string{
	"progressToken", "io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/logLevel",
	"traceparent", "tracestate", "baggage", // W3C Trace Context
	"claudecode/toolUseId", "callId", "x-codex-turn-metadata", // Claude Code, Codex
}

// make sets the key of a request. It returns false if an equal request could have another result:
// there are other parameters than arguments, such as the answers to a question, or the parameters
// are ambiguous.
func (k *key) make(r *Results, epoch uint64, q *Request) bool {
	params := q.Message.Bytes(q.Message.Params)
	if len(params) > maxParams {
		return false
	}
	canonical, err := mcpwire.Canonical(params)
	if err != nil {
		return false
	}
	var members, meta map[string]json.RawMessage
	if json.Unmarshal(canonical, &members) != nil {
		return false
	}
	for name, value := range members {
		switch name {
		case "name", "arguments":
		case "_meta":
			if json.Unmarshal(value, &meta) != nil {
				return false
			}
		default:
			return false
		}
	}
	for _, name := range passing {
		delete(meta, name)
	}
	if len(meta) == 0 {
		meta = nil // as if there were none
	}
	rest, err := json.Marshal(meta)
	if err != nil {
		return false
	}
	h := sha256.New()
	var number [8]byte
	part := func(text []byte) {
		h.Write(binary.BigEndian.AppendUint64(number[:0], uint64(len(text))))
		h.Write(text)
	}
	part(binary.BigEndian.AppendUint64(nil, r.connection))
	part(binary.BigEndian.AppendUint64(nil, epoch))
	part([]byte(q.Who))
	part([]byte(q.Tool))
	part(members["arguments"])
	part(rest)
	if written, err := q.Message.Param("arguments"); err != nil {
		return false
	} else if text := q.Message.Bytes(written); hasLongNumber(text) {
		part(text)
	}
	h.Sum(k[:0])
	return true
}

// hasLongNumber reports whether a text may have a number that canonical JSON rounds: one with more
// than 15 digits. Two such numbers would be equal.
func hasLongNumber(text []byte) bool {
	digits := 0
	return slices.ContainsFunc(text, func(c byte) bool {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c != '.':
			digits = 0
		}
		return digits > 15
	})
}
