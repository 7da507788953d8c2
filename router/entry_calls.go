package router

import (
	"fmt"

	"toolman/jsonrpc"
	"toolman/mcpwire/sanitize"
)

// asksFirst reports whether a person has to agree to each call of the entry. It may be
// nil: a request need not be about one.
func (e *Entry) asksFirst() bool { return e != nil && e.Danger.Asks() }

// notRun says that a dangerous tool was not run, and by which rule it could not just be.
func (e *Entry) notRun(why string) string {
	return fmt.Sprintf("%s; tool %s was not run: %s", e.Danger, sanitize.Name(e.Name), why)
}

// Shortened reports whether clients see another name than namespace and name
// make, because not all of them would take that.
func (e *Entry) Shortened() bool { return e.Name != e.prefix+e.Item.Name }

// judgedAs reports whether the options say the same of two entries of one item.
func (e *Entry) judgedAs(other *Entry) bool {
	return e.active == other.active && e.rule == other.rule && e.Hold == other.Hold &&
		(e.Danger == other.Danger || e.Danger != nil && other.Danger != nil && *e.Danger == *other.Danger)
}

// InputSchema returns the inputSchema of a tool as its server wrote it; nil when there is
// none. The bytes are not the caller's to change.
func (e *Entry) InputSchema() []byte {
	m := jsonrpc.Message{Frame: e.Item.Raw}
	at, err := m.Get(jsonrpc.Span{Hi: len(m.Frame)}, "inputSchema")
	if err != nil || !at.Present() {
		return nil
	}
	return m.Bytes(at)
}
