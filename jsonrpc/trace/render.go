package trace

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	timeFormat = "2006-01-02T15:04:05.000000Z"
	maxName    = 1 << 10 // bytes of a peer's, method's or target's name that are written
)

// A renderer turns entries into lines. It belongs to the Writer's goroutine.
type renderer struct {
	scrub    scrubber
	maxMsg   int
	word     []byte // the name that is being written
	redacted bool   // something was replaced on this line
}

// use makes r hide the secrets of p from now on.
func (r *renderer) use(p *patterns) { r.scrub.patterns = p }

func (r *renderer) session(dst []byte, s *Session, at time.Time) []byte {
	if s.Run == "" {
		s.Run = strings.ToLower(rand.Text()[:6])
	}
	var fields bytes.Buffer
	enc := json.NewEncoder(&fields)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // strings and numbers only: cannot be
		panic(err)
	}
	dst = r.head(dst, 0, "session", at, 0)
	dst = append(dst, ',')
	dst = append(dst, r.json(fields.Bytes()[1:fields.Len()-len("}\n")])...)
	return r.end(dst)
}

// entry appends the line of an entry; lost is the count of an event about lost lines.
func (r *renderer) entry(dst []byte, e *entry, seq uint64, since time.Duration, lost uint64) []byte {
	r.redacted = false
	switch {
	case e.session != nil:
		return r.session(dst, e.session, e.at)
	case e.event != "":
		return r.event(r.head(dst, seq, "event", e.at, since), e, lost)
	}
	return r.frame(r.head(dst, seq, "frame", e.at, since), e)
}

func (r *renderer) head(dst []byte, seq uint64, t string, at time.Time, since time.Duration) []byte {
	dst = append(dst, `{"v":1,"seq":`...)
	dst = strconv.AppendUint(dst, seq, 10)
	dst = append(dst, `,"t":"`...)
	dst = append(dst, t...)
	dst = append(dst, `","ts":"`...)
	dst = at.UTC().AppendFormat(dst, timeFormat)
	dst = append(dst, `","us":`...)
	return strconv.AppendInt(dst, since.Microseconds(), 10)
}

func (r *renderer) end(dst []byte) []byte {
	if r.redacted {
		dst = append(dst, `,"redacted":true`...)
	}
	return append(dst, "}\n"...)
}

func (r *renderer) event(dst []byte, e *entry, lost uint64) []byte {
	dst = r.name(dst, "peer", e.frame.Peer)
	dst = call(dst, e.frame.Call)
	dst = word(dst, "event", e.event)
	dst = number(dst, "count", int64(lost))
	if e.text == "" {
		return r.end(dst)
	}
	kept := e.text[:min(len(e.text), r.maxMsg)]
	cut := e.cut || len(kept) < len(e.text)
	if cut {
		dst = append(dst, `,"trunc":true`...)
	}
	return r.end(r.text(dst, []byte(kept), cut))
}

func (r *renderer) frame(dst []byte, e *entry) []byte {
	f := &e.frame
	dst = word(dst, "leg", string(f.Leg))
	dst = r.name(dst, "peer", f.Peer)
	dst = word(dst, "dir", string(f.Dir))
	dst = word(dst, "kind", string(f.Kind))
	dst = r.name(dst, "method", f.Method)
	dst = r.name(dst, "name", f.Name)
	dst = r.id(dst, f.ID, e.idCut)
	dst = call(dst, f.Call)
	dst = word(dst, "status", f.Status)
	dst = number(dst, "code", int64(f.Code))
	dst = number(dst, "leg_us", f.LegTime.Microseconds())
	dst = number(dst, "total_us", f.TotalTime.Microseconds())
	dst = number(dst, "own_us", f.OwnTime.Microseconds())
	dst = r.rewrote(dst, f.Rewrote)
	dst = word(dst, "verdict", f.Verdict)
	dst = r.name(dst, "rule", f.Rule)
	dst = append(dst, `,"bytes":`...)
	dst = strconv.AppendInt(dst, int64(e.size), 10)
	return r.end(r.body(dst, f.Msg, e.size))
}

// body writes a frame of which msg is kept: verbatim where one line of JSON can hold it, else as text.
func (r *renderer) body(dst, msg []byte, size int) []byte {
	cut := len(msg) < size
	if cut {
		dst = append(dst, `,"trunc":true`...)
	}
	if size == 0 {
		return dst
	}
	if cut || !json.Valid(msg) || !utf8.Valid(msg) {
		return r.text(dst, msg, cut)
	}
	dst = append(dst, `,"msg":`...)
	from := len(dst)
	dst = append(dst, r.json(msg)...)
	unbreak(dst[from:])
	return dst
}

// unbreak makes spaces of line breaks between tokens: a line of the trace is one line.
func unbreak(msg []byte) {
	if bytes.IndexByte(msg, '\n') < 0 && bytes.IndexByte(msg, '\r') < 0 {
		return
	}
	for i, c := range msg {
		if c == '\n' || c == '\r' {
			msg[i] = ' '
		}
	}
}

// text writes what is no JSON, or only the start of some.
func (r *renderer) text(dst, p []byte, cut bool) []byte {
	dst = append(dst, `,"text":`...)
	if utf8.Valid(p) || cut && utf8.Valid(wholeRunes(p)) {
		return appendString(dst, r.plain(wholeRunes(p), cut))
	}
	dst = appendString(dst, r.plain(readable(p), cut))
	dst = append(dst, `,"raw":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, r.plain(p, cut))
	return append(dst, '"')
}

// readable is p with U+FFFD for what is not UTF-8.
func readable(p []byte) []byte {
	if utf8.Valid(p) {
		return p
	}
	return bytes.ToValidUTF8(p, []byte("\uFFFD"))
}

// wholeRunes is p without a character that is cut at its end.
func wholeRunes(p []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(p); i++ {
		if c := p[len(p)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(p[len(p)-i:]) {
				return p[:len(p)-i]
			}
			break
		}
	}
	return p
}

// id writes an id's token as it is, if it is one.
func (r *renderer) id(dst, id []byte, cut bool) []byte {
	if id == nil {
		return dst
	}
	dst = append(dst, `,"id":`...)
	if cut || !json.Valid(id) || !utf8.Valid(id) {
		return appendString(dst, r.plain(readable(id), cut))
	}
	from := len(dst)
	dst = append(dst, r.json(id)...)
	unbreak(dst[from:])
	return dst
}

// name writes a string that a peer has made.
func (r *renderer) name(dst []byte, key, s string) []byte {
	if s == "" {
		return dst
	}
	return r.short(field(dst, key), s)
}

func (r *renderer) short(dst []byte, s string) []byte {
	r.word = append(r.word[:0], s...)
	p := r.plain(readable(r.word), false)
	if len(p) > maxName {
		p = append(wholeRunes(p[:maxName:maxName]), "…"...)
	}
	return appendString(dst, p)
}

func (r *renderer) rewrote(dst []byte, paths []string) []byte {
	if len(paths) == 0 {
		return dst
	}
	dst = append(dst, `,"rewrote":`...)
	sep := byte('[')
	for _, p := range paths {
		dst = r.short(append(dst, sep), p)
		sep = ','
	}
	return append(dst, ']')
}

// json is p, which is JSON, without secrets; valid until the next use of r.
func (r *renderer) json(p []byte) []byte {
	out, found := r.scrub.json(p)
	r.redacted = r.redacted || found
	return out
}

// plain is p, which need not be JSON, without secrets; cut says that p goes on where nobody sees. Valid until the next use of r.
func (r *renderer) plain(p []byte, cut bool) []byte {
	out, found := r.scrub.text(p, cut)
	r.redacted = r.redacted || found
	return out
}
