package trace

import (
	"time"

	"toolman/jsonrpc/trace/redact"
)

const (
	mostNames  = 256 // that a nameCache holds
	cachedName = 128 // bytes of the longest of them
	recentBits = 6   // of the place of a name among the recent ones
)

// A nameCache holds names as they are written, because the same few peers, methods and tools are in
// nearly every line. Names with secrets are not among them.
type nameCache struct {
	patterns *redact.Patterns // of the secrets that none of the names has
	written  map[string][]byte
	recent   [1 << recentBits]recentName
}

// A recentName is a name that was found, in the place that recentPlace gives it.
type recentName struct {
	name    string
	written []byte
}

// recentPlace is a hash that is much faster than that of a map.
func recentPlace(name string) int {
	n := len(name)
	return (n*7 + int(name[n-1])*3 + int(name[n/2])) % (1 << recentBits)
}

// find returns a name as it is written, or nil.
func (c *nameCache) find(p *redact.Patterns, name string) []byte {
	if p != c.patterns || c.written == nil || len(c.written) > mostNames {
		*c = nameCache{patterns: p, written: map[string][]byte{}}
	}
	if name == "" {
		return nil
	}
	last := &c.recent[recentPlace(name)]
	if last.name == name {
		return last.written
	}
	written := c.written[name]
	if written != nil {
		*last = recentName{name, written}
	}
	return written
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
	dst = append(dst, "000000Z"...)
	for i, us := len(dst)-2, at.Nanosecond()/1000; us > 0; i, us = i-1, us/10 {
		dst[i] += byte(us % 10)
	}
	return dst
}
