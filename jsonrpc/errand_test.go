package jsonrpc

import (
	"errors"
	"slices"
	"testing"
)

// A porter is a Courier that writes down what is done with it.
type porter struct {
	log  *[]string
	name string
	err  error
}

func (p *porter) note(what string) { *p.log = append(*p.log, p.name+" "+what) }

func (p *porter) Queue(frame []byte, edits []Edit) error {
	p.note("queue " + string(AppendSplice(nil, frame, edits...)))
	return p.err
}

func (p *porter) Flush() { p.note("flush") }

func (p *porter) QueueMessage(m *Message, edits []Edit) error {
	p.note("queue message " + string(AppendSplice(nil, m.Frame, edits...)))
	return p.err
}

func (p *porter) Entrust(m *Message, edits []Edit) (Errand, error) {
	p.note("entrust " + string(AppendSplice(nil, m.Frame, edits...)))
	if p.err != nil || string(m.Frame) == "notice" {
		return nil, p.err
	}
	return p, nil
}

func (p *porter) Run(l Lender) {
	l.Away()
	p.note("run")
	l.Back()
}

type lending struct{ log *[]string }

func (l lending) Away() { *l.log = append(*l.log, "away") }
func (l lending) Back() { *l.log = append(*l.log, "back") }

func TestALentFlushRunsTheFirstRequestAfterAllElseIsSent(t *testing.T) {
	var log []string
	a, b := &porter{log: &log, name: "a"}, &porter{log: &log, name: "b"}
	broken := &porter{log: &log, name: "broken", err: errors.New("no")}
	message := func(frame string) *Message { return &Message{Frame: []byte(frame)} }
	for name, c := range map[string]struct {
		lent bool
		send func(batch *Batch)
		want []string
	}{
		"one request": {true, func(batch *Batch) {
			batch.Edit(Span{0, 1}, []byte("R"))
			batch.Pass(a, message("request"))
		}, []string{"a entrust Request", "a flush", "away", "a run", "back"}},
		"two requests": {true, func(batch *Batch) {
			batch.Pass(a, message("one"))
			batch.Pass(b, message("two"))
		}, []string{"a entrust one", "b queue message two", "a flush", "b flush", "away", "a run", "back"}},
		"what needs nobody": {true, func(batch *Batch) {
			batch.Pass(a, message("notice"))
			batch.Pass(b, message("one"))
		}, []string{"a entrust notice", "b entrust one", "a flush", "b flush", "away", "b run", "back"}},
		"what is not taken": {true, func(batch *Batch) {
			if batch.Pass(broken, message("one")) == nil {
				t.Error("that is no error")
			}
		}, []string{"broken entrust one"}},
		"what is no message": {true, func(batch *Batch) {
			batch.Send(a, []byte("frame"))
			batch.Send(a, []byte("frame"))
			batch.Pass(a, message("one"))
		}, []string{"a queue frame", "a queue frame", "a entrust one", "a flush", "away", "a run", "back"}},
		"nothing lent": {false, func(batch *Batch) {
			batch.Pass(a, message("one"))
		}, []string{"a queue message one", "a flush"}},
	} {
		t.Run(name, func(t *testing.T) {
			var batch Batch
			if c.lent {
				batch.Lend(lending{&log})
			}
			for range 2 { // a batch is used again
				log = nil
				c.send(&batch)
				if batch.Flush(); !slices.Equal(log, c.want) {
					t.Errorf("got  %q\nwant %q", log, c.want)
				}
			}
		})
	}
}
