package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// A Violation is a frame that breaks a rule.
type Violation struct {
	Direction Direction
	Frame     string
	Err       error
}

func (v Violation) Error() string {
	return fmt.Sprintf("sent by the %s: %.1000s\n\t%v", v.Direction, v.Frame, v.Err)
}

// A Leg judges the conversation on one leg. Its frames have to come in the order in which they
// passed: a request before its answer. It may be used by several goroutines.
type Leg struct {
	// immutable
	revision string
	legacy   bool
	checker  *Checker            // nil: there is no schema
	probes   map[string]*Checker // of the methods that find the era out: they are of their own, whatever comes of it
	options  Options

	mu         sync.Mutex              // guards what follows
	asked      [2]map[string]*exchange // by direction and id: requests that are not answered yet
	listens    map[string]*listen      // by id
	violations []Violation
	begun      bool // the client has initialized
}

// An exchange is a request that may still be answered.
type exchange struct {
	method    string
	token     string // the key of its progress token; "" if it has none
	logs      bool   // it asked for log messages (modern)
	cancelled bool
	ofTask    bool // its progress may go on after the answer
	progress  *float64
}

// Options choose what a Leg complains of besides the rules of single frames.
type Options struct {
	// Lossy says that frames may be missing: what needs those before is not a violation.
	Lossy bool
	// Strict adds that progress has to increase, and that a legacy client begins with initialize.
	Strict bool
}

// NewLeg returns a Leg that speaks one revision. A server/discover and its answer are judged by the
// modern revision, and on a leg of that an initialize and its refusal by the newest legacy one,
// because a client may find out with them whom it talks to. The error is that of from. If from is
// nil, only what frames have to do with each other is judged.
func NewLeg(revision string, from Source, o Options) (*Leg, error) {
	t := &Leg{revision: revision, legacy: revision != Modern, probes: map[string]*Checker{}, options: o, listens: map[string]*listen{},
		asked: [2]map[string]*exchange{{}, {}}}
	if from == nil {
		return t, nil
	}
	var err error
	if t.checker, err = from(revision); err != nil {
		return nil, err
	}
	if t.probes["server/discover"], err = from(Modern); err != nil {
		return nil, err
	}
	if revision == Modern {
		legacy := Legacy()
		if t.probes["initialize"], err = from(legacy[len(legacy)-1]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Violations returns those of one sender so far.
func (t *Leg) Violations(d Direction) []Violation {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found []Violation
	for _, v := range t.violations {
		if v.Direction == d {
			found = append(found, v)
		}
	}
	return found
}

// Frame takes in one frame, with or without its newline.
func (t *Leg) Frame(d Direction, frame []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	frame = bytes.TrimSpace(frame)
	var batch []json.RawMessage
	if !bytes.HasPrefix(frame, []byte("[")) || json.Unmarshal(frame, &batch) != nil {
		t.note(d, frame, t.one(d, frame))
		return
	}
	if t.checker != nil && !t.checker.defs.has("JSONRPCBatchRequest") {
		t.note(d, frame, fmt.Errorf("%s has no batches", t.revision))
	}
	for _, single := range batch {
		t.note(d, single, t.one(d, single))
	}
}

// Partial takes in what is known of a frame of which not all is known. Only what it has to do with
// others is judged.
func (t *Leg) Partial(d Direction, frame []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	checker, probes := t.checker, t.probes
	t.checker, t.probes = nil, nil
	t.note(d, frame, t.one(d, frame))
	t.checker, t.probes = checker, probes
}

// valid judges a frame by the schema. method is its own, or that of the request that it answers.
func (t *Leg) valid(d Direction, frame []byte, method, answers string) error {
	by := t.checker
	if probe := t.probes[method]; probe != nil {
		by = probe
	}
	if by == nil {
		return nil
	}
	return by.Frame(d, frame, answers)
}

// unless returns err, if no frames may be missing.
func (t *Leg) unless(err error) error {
	if t.options.Lossy {
		return nil
	}
	return err
}

func (t *Leg) note(d Direction, frame []byte, err error) {
	if err != nil {
		t.violations = append(t.violations, Violation{d, string(frame), err})
	}
}

func (t *Leg) one(d Direction, frame []byte) error {
	var m message
	if err := json.Unmarshal(frame, &m); err != nil {
		var shape *json.UnmarshalTypeError
		if !errors.As(err, &shape) {
			return err
		}
	} // a wrong shape is for the schema to complain of
	if m.Method == "" {
		return t.answer(d, frame, &m)
	}
	err := t.valid(d, frame, m.Method, "")
	if m.ID == nil {
		return errors.Join(err, t.notification(d, &m))
	}
	return errors.Join(err, t.request(d, &m))
}

func (t *Leg) request(d Direction, m *message) error {
	id := key(m.ID)
	if open := t.asked[d][id]; open != nil && !open.cancelled {
		return t.unless(fmt.Errorf("the id %s is that of a %s in flight", m.ID, open.method))
	}
	var early error
	if t.options.Strict && t.legacy && d == ToServer {
		switch m.Method {
		case "initialize":
			t.begun = true
		case "ping", "server/discover":
		default:
			if !t.begun {
				early = t.unless(errors.New("it comes before initialize"))
			}
			t.begun = true // once is enough
		}
	}
	t.asked[d][id] = &exchange{method: m.Method, token: key(m.Params.Meta.ProgressToken), logs: m.Params.Meta.LogLevel != "", ofTask: m.Params.Task != nil}
	if m.Method == "subscriptions/listen" {
		t.listens[id] = &listen{asked: m.Params.Notifications}
	}
	return early
}

func (t *Leg) answer(d Direction, frame []byte, m *message) error {
	open := t.asked[d.back()][key(m.ID)]
	if open == nil && m.Error != nil && (m.ID == nil || string(m.ID) == "null") {
		return t.valid(d, frame, "", "") // to what could not be read
	}
	if open == nil {
		return t.unless(errors.New("no request is open that this could answer"))
	}
	delete(t.asked[d.back()], key(m.ID))
	if open.ofTask {
		t.asked[d.back()]["task of "+key(m.ID)] = open
	}
	return errors.Join(t.valid(d, frame, open.method, open.method), t.agreed(open, m), t.ended(d, key(m.ID), m.Error != nil))
}

// agreed says whether the handshake led to the revision that the leg is judged by.
func (t *Leg) agreed(open *exchange, m *message) error {
	if open.method == "initialize" && m.Result != nil && m.Result.ProtocolVersion != t.revision {
		return fmt.Errorf("the handshake led to %q", m.Result.ProtocolVersion)
	}
	return nil
}

func (t *Leg) notification(d Direction, m *message) error {
	switch {
	case m.Method == "notifications/cancelled":
		t.cancel(d, key(m.Params.RequestID))
		return nil
	case m.Method == "notifications/progress":
		return t.progress(d, m)
	case t.legacy || d == ToServer:
		return nil
	case m.Method == "notifications/message":
		return t.unless(t.log())
	}
	return t.unless(t.heard(m))
}

// cancel lets a request go without an answer. One may still come: the two may have crossed.
func (t *Leg) cancel(d Direction, id string) {
	if open := t.asked[d][id]; open != nil {
		open.cancelled = true
	}
	if l := t.listens[id]; l != nil && d == ToServer {
		l.cancelled = true
	}
}

func (t *Leg) progress(d Direction, m *message) error {
	for _, open := range t.asked[d.back()] {
		if open.token != "" && open.token == key(m.Params.ProgressToken) {
			last := open.progress
			open.progress = m.Params.Progress
			if t.options.Strict && last != nil && m.Params.Progress != nil && *m.Params.Progress <= *last {
				return fmt.Errorf("progress %v follows %v: it has to increase", *m.Params.Progress, *last)
			}
			return nil
		}
	}
	return t.unless(errors.New("no open request has that progress token"))
}

// 2026-07-28 logging: no message without a request in flight that set a level.
func (t *Leg) log() error {
	for _, open := range t.asked[ToServer] {
		if open.logs {
			return nil
		}
	}
	return errors.New("no open request asked for log messages")
}
