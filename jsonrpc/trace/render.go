package trace

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"toolman/jsonrpc"
	"toolman/jsonrpc/trace/redact"
)

const (
	maxName = 1 << 10 // bytes of a peer's, method's or target's name that are written
)

// A renderer turns entries into lines.
type renderer struct {
	redactor redact.Redactor
	maxMsg   int
	word     []byte   // the current name
	redacted []string // where the current line has replacements
	names    nameCache
	clock    clockCache
}

func (r *renderer) session(dst []byte, s *Session, at time.Time) []byte {
	if s.Run == "" {
		s.Run = strings.ToLower(rand.Text()[:6])
	}
	var fields bytes.Buffer
	enc := json.NewEncoder(&fields)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // impossible: it has only strings and numbers
		panic(err)
	}
	dst = r.head(dst, 0, "session", at, 0)
	dst = append(dst, ',')
	inner := r.json(fields.Bytes()[:fields.Len()-len("\n")], "")
	return r.end(append(dst, inner[1:len(inner)-1]...))
}

// entry appends the line of an entry; lost is the count of an event about lost lines.
func (r *renderer) entry(dst []byte, e *entry, seq uint64, since time.Duration, lost uint64) []byte {
	r.redacted = r.redacted[:0]
	switch at := e.frame.At; {
	case e.other == nil:
		return r.frame(r.head(dst, seq, "frame", at, since), e)
	case e.other.session != nil:
		return r.session(dst, e.other.session, at)
	default:
		return r.event(r.head(dst, seq, "event", at, since), e, lost)
	}
}

func (r *renderer) head(dst []byte, seq uint64, t string, at time.Time, since time.Duration) []byte {
	dst = append(dst, `{"v":1,"seq":`...)
	dst = appendNumber(dst, seq)
	dst = append(dst, `,"t":"`...)
	dst = append(dst, t...)
	dst = append(dst, `","ts":"`...)
	dst = r.clock.append(dst, at)
	dst = append(dst, `","us":`...)
	us := since.Microseconds()
	if us < 0 { // a frame of before the start
		return strconv.AppendInt(dst, us, 10)
	}
	return appendNumber(dst, uint64(us))
}

func (r *renderer) end(dst []byte) []byte {
	sep := byte('[')
	for _, path := range r.redacted {
		if sep == '[' {
			dst = append(dst, `,"redacted":`...)
		}
		shown, _ := r.redactor.Text([]byte(path), false) // its parts together may be a secret
		dst = appendString(append(dst, sep), shown)
		sep = ','
	}
	if sep == ',' {
		dst = append(dst, ']')
	}
	return append(dst, "}\n"...)
}

func (r *renderer) event(dst []byte, e *entry, lost uint64) []byte {
	dst = r.name(dst, "peer", e.frame.Peer)
	dst = call(dst, e.frame.Call)
	dst = word(dst, `,"event":"`, e.other.event)
	dst = number(dst, "count", int64(lost))
	if e.frame.Leg != "" {
		dst = r.debugged(dst, e)
	}
	text := e.other.text
	if text == "" {
		return r.end(dst)
	}
	kept := text[:min(len(text), r.maxMsg)]
	cut := e.other.cut || len(kept) < len(text)
	if cut {
		dst = append(dst, `,"trunc":true`...)
	}
	return r.end(r.text(dst, []byte(kept), cut))
}

// debugged appends the message of an event of --debug. If it is cut, it is not JSON, and left out:
// "text" is the text of the event.
func (r *renderer) debugged(dst []byte, e *entry) []byte {
	f := &e.frame
	dst = word(dst, `,"leg":"`, string(f.Leg))
	dst = word(dst, `,"dir":"`, string(f.Dir))
	dst = word(dst, `,"kind":"`, string(f.Kind))
	dst = r.name(dst, "method", f.Method)
	dst = r.name(dst, "name", f.Name)
	dst = r.id(dst, e)
	dst = number(dst, "hold", int64(e.other.hold))
	dst = word(dst, `,"done":"`, e.other.done)
	dst = number(dst, "held_us", f.LegTime.Microseconds())
	if f.Size == 0 {
		return dst
	}
	if len(f.Msg) < f.Size || !jsonrpc.Valid(f.Msg) {
		return append(dst, `,"trunc":true`...)
	}
	return r.verbatim(append(dst, `,"msg":`...), f.Msg, "msg")
}

func (r *renderer) frame(dst []byte, e *entry) []byte {
	f := &e.frame
	dst = word(dst, `,"leg":"`, string(f.Leg))
	dst = r.name(dst, "peer", f.Peer)
	dst = word(dst, `,"dir":"`, string(f.Dir))
	dst = word(dst, `,"kind":"`, string(f.Kind))
	dst = r.name(dst, "method", f.Method)
	dst = r.name(dst, "name", f.Name)
	dst = r.id(dst, e)
	dst = call(dst, f.Call)
	dst = word(dst, `,"status":"`, f.Status)
	dst = number(dst, "code", int64(f.Code))
	dst = number(dst, "leg_us", f.LegTime.Microseconds())
	dst = number(dst, "total_us", f.TotalTime.Microseconds())
	dst = number(dst, "own_us", f.OwnTime.Microseconds())
	dst = r.rewrote(dst, f.Rewrote)
	dst = word(dst, `,"verdict":"`, f.Verdict)
	dst = r.name(dst, "rule", f.Rule)
	dst = append(dst, `,"bytes":`...)
	dst = appendNumber(dst, uint64(f.Size))
	return r.end(r.body(dst, f))
}

// body appends the kept part of a frame: verbatim if it is JSON, otherwise as text.
func (r *renderer) body(dst []byte, f *Frame) []byte {
	msg := f.Msg
	cut := len(msg) < f.Size
	if cut {
		dst = append(dst, `,"trunc":true`...)
	}
	if f.Size == 0 {
		return dst
	}
	if cut || !f.Scanned && !jsonrpc.Valid(msg) {
		return r.text(dst, msg, cut)
	}
	return r.verbatim(append(dst, `,"msg":`...), msg, "msg")
}

// verbatim appends JSON without secrets and without line breaks.
func (r *renderer) verbatim(dst, p []byte, key string) []byte {
	from := len(dst)
	dst = append(dst, r.json(p, key)...)
	jsonrpc.OneLine(dst[from:])
	return dst
}

// text appends a text that is not JSON, or only the start of some.
func (r *renderer) text(dst, p []byte, cut bool) []byte {
	dst = append(dst, `,"text":`...)
	if utf8.Valid(p) || cut && utf8.Valid(wholeRunes(p)) {
		return appendString(dst, r.plain(wholeRunes(p), cut, "text"))
	}
	dst = appendString(dst, r.plain(readable(p), cut, "text"))
	dst = append(dst, `,"raw":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, r.plain(p, cut, "raw"))
	return append(dst, '"')
}

// readable returns p with U+FFFD in place of what is not UTF-8.
func readable(p []byte) []byte {
	if utf8.Valid(p) {
		return p
	}
	return bytes.ToValidUTF8(p, []byte("\uFFFD"))
}

// wholeRunes returns p without a character that is cut at its end.
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

// id appends an id: verbatim if it is JSON, otherwise as a string.
func (r *renderer) id(dst []byte, e *entry) []byte {
	id, cut := e.frame.ID, e.idCut
	if id == nil {
		return dst
	}
	dst = append(dst, `,"id":`...)
	if e.frame.Scanned && !cut { // a token has no line breaks
		return append(dst, r.json(id, "id")...)
	}
	if cut || !jsonrpc.Valid(id) {
		return appendString(dst, r.plain(readable(id), cut, "id"))
	}
	return r.verbatim(dst, id, "id")
}

// name appends a string of a peer.
func (r *renderer) name(dst []byte, key, s string) []byte {
	if s == "" {
		return dst
	}
	return r.short(field(dst, key), s, key)
}

func (r *renderer) short(dst []byte, s, key string) []byte {
	if known := r.names.find(r.redactor.Patterns, s); known != nil {
		return append(dst, known...)
	}
	from, replaced := len(dst), len(r.redacted)
	dst = r.shorten(dst, s, key)
	if len(r.redacted) == replaced && !slices.Contains(r.redacted, key) {
		r.names.add(s, dst[from:])
	}
	return dst
}

func (r *renderer) shorten(dst []byte, s, key string) []byte {
	r.word = append(r.word[:0], s...)
	p := r.plain(readable(r.word), false, key)
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
		dst = r.short(append(dst, sep), p, "rewrote")
		sep = ','
	}
	return append(dst, ']')
}

// json returns p, which is JSON and the value of key, without secrets. The result is valid until
// the next call.
func (r *renderer) json(p []byte, key string) []byte {
	out, found := r.redactor.JSON(p)
	if found {
		r.redacted = r.redactor.AppendPaths(r.redacted, key)
	}
	return out
}

// plain returns any text, the value of key, without secrets. If cut is true, p is the start of a
// longer text. The result is valid until the next call.
func (r *renderer) plain(p []byte, cut bool, key string) []byte {
	out, found := r.redactor.Text(p, cut)
	if found && !slices.Contains(r.redacted, key) {
		r.redacted = append(r.redacted, key)
	}
	return out
}

func field(dst []byte, key string) []byte {
	dst = append(dst, `,"`...)
	dst = append(dst, key...)
	return append(dst, `":`...)
}

// word appends one of toolman's own words, which needs neither redaction nor escapes. start is what
// comes before it.
func word(dst []byte, start, s string) []byte {
	if s == "" {
		return dst
	}
	return append(append(append(dst, start...), s...), '"')
}

func number(dst []byte, key string, n int64) []byte {
	if n == 0 || n < 0 && key != "code" {
		return dst
	}
	if n < 0 {
		return strconv.AppendInt(field(dst, key), n, 10)
	}
	return appendNumber(field(dst, key), uint64(n))
}

func call(dst []byte, n uint64) []byte {
	if n == 0 {
		return dst
	}
	dst = append(dst, `,"call":"c`...)
	dst = appendNumber(dst, n)
	return append(dst, '"')
}

// appendNumber appends n in decimal. It writes the digits where they belong, and takes a quarter of
// the time of strconv, which copies them from a buffer that it has just written.
func appendNumber(dst []byte, n uint64) []byte {
	digits := 1
	for rest := n; rest >= 10; rest /= 10 {
		digits++
	}
	dst = slices.Grow(dst, digits)[:len(dst)+digits]
	for i := len(dst) - 1; digits > 0; i, digits = i-1, digits-1 {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
	return dst
}

// appendString appends s as a JSON string, with U+FFFD in place of what is not UTF-8, and escapes
// for control characters, including DEL and C1.
func appendString(dst, s []byte) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if ' ' <= c && c < 0x7f {
			if c == '"' || c == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(s[i:])
		dst = appendRune(dst, r)
		i += n
	}
	return append(dst, '"')
}

func appendRune(dst []byte, r rune) []byte {
	switch {
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\t':
		return append(dst, `\t`...)
	case r == '\r':
		return append(dst, `\r`...)
	case r < ' ', 0x7f <= r && r < 0xa0:
		return fmt.Appendf(dst, `\u%04x`, r)
	}
	return utf8.AppendRune(dst, r)
}
