package jsonrpc

import (
	"regexp"
	"strconv"
	"sync"
)

// Where the id of a response stands when its frame could not be read: near the
// start, as the Go SDKs write it, or at the very end, as the TypeScript SDK does.
const (
	reVersion = `"jsonrpc"\s*:\s*"2\.0"\s*`
	reOpening = `^\s*\{\s*(?:` + reVersion + `,\s*)?`
	reID      = `"id"\s*:\s*(\d{1,18})\s*`
	reOutcome = `"(?:result|error)"\s*:`
)

// They are compiled when they are needed: that would be a part of every start.
var (
	idFirst = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(reOpening + reID + `,\s*(?:` + reVersion + `,\s*)?` + reOutcome)
	})
	noIDFirst = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(reOpening + reOutcome) })
	idLast    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`,\s*` + reID + `(?:,\s*` + reVersion + `)?\}\s*$`) })
)

// SalvageID finds the id of a response that is damaged or was not kept, from
// the start and the end of its frame, of which it looks at 4 KiB and 256 bytes.
func SalvageID(head, tail []byte) (uint64, bool) {
	head, tail = head[:min(len(head), headSize)], tail[max(0, len(tail)-tailSize):]
	found := idFirst().FindSubmatch(head)
	if found == nil && noIDFirst().Match(head) {
		found = idLast().FindSubmatch(tail)
	}
	if found == nil {
		return 0, false
	}
	id, err := strconv.ParseUint(string(found[1]), 10, 64)
	return id, err == nil
}
