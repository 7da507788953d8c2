package jsonrpc

import (
	"strings"
	"testing"
)

// allocates fails the test when f allocates more than budget, on average.
func allocates(t *testing.T, what string, budget float64, f func()) {
	t.Helper()
	f() // what is allocated once is
	if n := testing.AllocsPerRun(200, f); n > budget {
		t.Errorf("%s: %v allocations, the budget is %v", what, n, budget)
	}
}

func TestReadingAMessageAllocatesNothing(t *testing.T) {
	var m Message
	for name, frame := range map[string][]byte{
		"a call":               []byte(call100),
		"a reply of text":      textReply(10_000, proseLine),
		"a reply in Japanese":  textReply(10_000, kanjiLine),
		"a reply of trees":     treeReply(10_000),
		"a response to no one": []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`),
		"members nobody knows": []byte(`{"jsonrpc":"2.0","id":1,"method":"a","` + strings.Repeat("unknown", 20) + `":1,"params":` + padded(`"n":1`) + `}`),
		"nested 60 deep":       []byte(`{"jsonrpc":"2.0","id":1,"result":` + nest(60, true) + `}`),
	} {
		allocates(t, "Scan of "+name, 0, func() {
			if err := Scan(frame, &m); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestLookingIntoAMessageAllocatesNothing(t *testing.T) {
	few := mustScan(t, call100)
	many := mustScan(t, `{"jsonrpc":"2.0","id":1,"method":"a","params":`+padded(`"name":"x","ключ":1`)+`}`)
	for name, m := range map[string]*Message{"few": few, "many": many} {
		allocates(t, "Param, "+name+" members", 0, func() {
			at, err := m.Param("name")
			if err != nil || len(m.Text(at)) == 0 {
				t.Fatal(m.Text(at), err)
			}
			if at, err := m.Param("_meta"); err != nil || at.Present() {
				t.Fatal(at, err)
			}
		})
	}
}

func TestSendingAllocatesNothing(t *testing.T) {
	r, w := osPipe(t)
	defer r.Close()
	loop, err := NewLoop()
	if err != nil {
		t.Fatal(err)
	}
	defer loop.Close()
	in, far := osPipe(t)
	defer far.Close()
	p, err := loop.Peer(in, w, PeerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Start(newJournal(nil))
	m := mustScan(t, call100)
	buf := make([]byte, 1<<10)
	edits := []Edit{{m.ID, []byte("123456")}, {m.Method, []byte(`"x"`)}}
	allocates(t, "Queue and Flush", 0, func() {
		if err := p.Queue(m.Frame, edits); err != nil {
			t.Fatal(err)
		}
		p.Flush()
		if _, err := r.Read(buf); err != nil {
			t.Fatal(err)
		}
	})
}

// passOn is a handler as a router has one: it changes the id and sends on.
type passOn struct{ to *Peer }

var newID = []byte("123456")

func (h passOn) Message(m *Message, b *Batch) {
	b.Edit(m.ID, newID)
	b.Pass(h.to, m)
}
func (passOn) Bad(*Message, error, *Batch) {}
func (passOn) Closed(error)                {}

// relay links two peers, each sending on to the other.
func relay(t testing.TB, open func(testing.TB, *Loop, PeerOptions) link) (client, server link) {
	loop, err := NewLoop()
	if err != nil {
		t.Fatal(err)
	}
	client, server = open(t, loop, PeerOptions{}), open(t, loop, PeerOptions{})
	client.Start(passOn{server.Peer})
	server.Start(passOn{client.Peer})
	t.Cleanup(func() {
		for _, l := range []link{client, server} {
			l.Close()
			l.w.Close()
			l.r.Close()
		}
		loop.Close()
	})
	return client, server
}

func TestPassingOnAllocatesNothing(t *testing.T) {
	for _, tr := range append(portable, ofThisSystem...) {
		if strings.HasSuffix(tr.name, "net.Pipe") {
			continue // allocates itself
		}
		client, server := relay(t, tr.open)
		call, reply := []byte(call100+"\n"), append(textReply(1000, proseLine), '\n')
		buf := make([]byte, 4<<10)
		allocates(t, tr.name, 0, func() {
			client.w.Write(call)
			server.r.Read(buf)
			server.w.Write(reply)
			client.r.Read(buf)
		})
	}
}
