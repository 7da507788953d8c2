package trace

import (
	"time"

	"toolman/jsonrpc/trace/redact"
)

const (
	mostNames  = 256 // that a nameCache holds
	cachedName = 128 // bytes of the longest of them
)

// A nameCache holds names as they are written, because the same few peers, methods and tools are in
// nearly every line. Names with secrets are not among them.
type nameCache struct {
	patterns *redact.Patterns // of the secrets that none of the names has
	written  map[string][]byte
}

// find returns a name as it is written, or nil.
func (c *nameCache) find(p *redact.Patterns, name string) []byte {
	if p != c.patterns || c.written == nil || len(c.written) > mostNames {
		c.patterns, c.written = p, map[string][]byte{}
	}
	return c.written[name]
}

// add adds a name that find has not found.
func (c *nameCache) add(name string, written []byte) {
	if len(name) <= cachedName {
		c.written[name] = append([]byte(nil), written...)
	}
}

// A clockCache holds the text of a second, because many lines are written in the same.
type clockCache struct {
	second int64
	text   []byte // "2006-01-02T15:04:05."
}

// append appends a time in UTC, in microseconds.
func (c *clockCache) append(dst []byte, at time.Time) []byte {
	if s := at.Unix(); s != c.second || c.text == nil {
		c.second, c.text = s, at.UTC().AppendFormat(c.text[:0], "2006-01-02T15:04:05.")
	}
	dst = append(dst, c.text...)
	us := at.Nanosecond() / 1000
	for place := 100_000; place > 0; place /= 10 {
		dst = append(dst, byte('0'+us/place%10))
	}
	return append(dst, 'Z')
}
