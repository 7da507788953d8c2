package jsonrpc

import "toolman/jsonrpc/internal/scan"

// A Scanner is Scan for the frames of one peer. Most of them look like an earlier
// one but for what some strings and numbers say. It remembers how one was built,
// and looks at no more than the rest of those that are built alike. It is not safe
// for concurrent use.
type Scanner struct {
	shape  shape
	learnt uint // shapes
	others uint // frames in a row that were not of the shape
}

// A Form stands for all frames of one shape that one Scanner was given.
type Form struct {
	of    *Scanner
	shape uint
}

// learnAt and learnEvery say which of the frames in a row that were built otherwise
// gives a new shape: seldom the next, or two kinds in turn would both be learnt again
// and again.
const learnAt, learnEvery = 2, 8

// Scan is the function Scan.
func (c *Scanner) Scan(frame []byte, m *Message) error {
	if c.shape.fits(frame, m) {
		c.others = 0
		m.Form = Form{c, c.learnt}
		return nil
	}
	err := Scan(frame, m)
	if err == nil {
		if c.others++; c.others%learnEvery == learnAt {
			c.shape.learn(m)
			c.learnt++
		}
	}
	return err
}

const (
	maxHoles   = 16  // in a shape
	shapeLimit = 512 // how long a frame may be to give a shape
)

// A shape is how a frame was built that Scan has accepted: all of it but the
// strings and numbers that are values; in their places are holes. With any other
// strings and numbers there, Scan would accept it too, and find its parts in the same
// places. The version and the method are no holes.
type shape struct {
	text   []byte // without what was in the holes; empty: no shape
	holes  [maxHoles]hole
	nholes int

	kind    Kind
	nparams int
	odd     bool
	id      field
	parts   [2]field // of a response its result and error, else method and params
	params  [maxMembers]struct{ key, value field }
}

// A hole is at a place of a shape's text, for a number or for the text of a string.
type hole struct {
	at     uint16
	number bool
}

// A field is a Span in frames of a shape.
type field struct{ lo, hi mark }

// A mark is a place in the text of a shape that has so many holes before it.
type mark struct{ at, holes uint16 }

// moved says how far what is behind so many holes has moved, in one frame.
type moved [maxHoles + 1]int

func (f *field) in(m *moved) Span {
	return Span{int(f.lo.at) + m[f.lo.holes], int(f.hi.at) + m[f.hi.holes]}
}

// fits reports whether a frame is of the shape, and then says in m what Scan would.
func (s *shape) fits(frame []byte, m *Message) bool {
	if len(s.text) == 0 || len(frame) < len(s.text) {
		return false
	}
	var by moved
	i, from := 0, 0
	w := scan.Scanner{B: frame}
	for k := range s.holes[:s.nholes] {
		h := &s.holes[k]
		to := int(h.at)
		end := i + to - from
		if end >= len(frame) || string(frame[i:end]) != string(s.text[from:to]) {
			return false
		}
		if i, from = end, to; h.number {
			i = w.Number(i)
		} else {
			i = w.String(i-1) - 1
		}
		if i < 0 {
			return false
		}
		by[k+1] = i - from
	}
	if string(frame[i:]) != string(s.text[from:]) {
		return false
	}
	s.tell(m, &by)
	m.Frame = frame
	return true
}

// tell fills in all of m but the frame.
func (s *shape) tell(m *Message, by *moved) {
	m.Kind, m.Loose, m.oneLine, m.nparams, m.odd = s.kind, false, true, s.nparams, s.odd
	m.ID = s.id.in(by)
	if s.kind == Response {
		m.Method, m.Params = Span{}, Span{}
		m.Result, m.Err = s.parts[0].in(by), s.parts[1].in(by)
		return
	}
	m.Method, m.Params = s.parts[0].in(by), s.parts[1].in(by)
	m.Result, m.Err = Span{}, Span{}
	for i := range s.params[:max(0, s.nparams)] {
		p := &s.params[i]
		m.params[i] = member{p.key.in(by), p.value.in(by)}
	}
}

// learn takes on the shape of a frame that Scan has accepted, if it is simple enough.
func (s *shape) learn(m *Message) {
	s.text, s.nholes = s.text[:0], 0
	if len(m.Frame) > shapeLimit || m.Loose || !m.oneLine || m.nparams < 0 && m.IsObject(m.Params) {
		return
	}
	var at [maxHoles]Span
	w := scan.Scanner{B: m.Frame}
	text, from := s.text, 0
	for i := 0; i < len(m.Frame); {
		lo, hi, number := i, i, false
		switch c := m.Frame[i]; {
		case c == '"':
			if i = w.String(i); m.fixed(lo, i) {
				continue
			}
			lo, hi = lo+1, i-1
		case c == '-' || '0' <= c && c <= '9':
			i = w.Number(i)
			hi, number = i, true
		default:
			i++
			continue
		}
		if s.nholes == maxHoles {
			return
		}
		text = append(text, m.Frame[from:lo]...)
		s.holes[s.nholes], at[s.nholes] = hole{uint16(len(text)), number}, Span{lo, hi}
		s.nholes++
		from = hi
	}
	s.text = append(text, m.Frame[from:]...)
	s.place(m, at[:s.nholes])
}

// fixed reports whether the string from lo to hi is the same in all frames of a shape: a
// key, the method, or what may be the version.
func (m *Message) fixed(lo, hi int) bool {
	if lo == m.Method.Lo || string(m.Frame[lo:hi]) == `"2.0"` {
		return true
	}
	next := scan.Space(m.Frame, hi)
	return next < len(m.Frame) && m.Frame[next] == ':'
}

// place notes where the parts of m are between the holes.
func (s *shape) place(m *Message, holes []Span) {
	in := func(span Span) field { return field{markOf(span.Lo, holes), markOf(span.Hi, holes)} }
	s.kind, s.nparams, s.odd, s.id = m.Kind, m.nparams, m.odd, in(m.ID)
	s.parts = [2]field{in(m.Method), in(m.Params)}
	if m.Kind == Response {
		s.parts = [2]field{in(m.Result), in(m.Err)}
	}
	for i, p := range m.params[:max(0, m.nparams)] {
		s.params[i].key, s.params[i].value = in(p.key), in(p.value)
	}
}

func markOf(at int, holes []Span) mark {
	m := mark{at: uint16(at)}
	for _, h := range holes {
		if h.Hi > at {
			break
		}
		m.at -= uint16(h.Hi - h.Lo)
		m.holes++
	}
	return m
}
