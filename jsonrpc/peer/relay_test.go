package peer

import (
	"fmt"
	"strings"
	"testing"

	"toolman/jsonrpc"
)

const relayed = `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"fs_read_file","arguments":{"path":"a/b"}}}`

// reply returns a response of about n bytes, with its newline.
func reply(n int) []byte {
	text := strings.Repeat(`It was the best of times, it was the \"worst\" of times, they say;\n`, n/67)
	return []byte(`{"jsonrpc":"2.0","id":17,"result":{"content":[{"type":"text","text":"` + text + `"}],"isError":false}}` + "\n")
}

// allocatesNothing fails the test if f allocates, apart from its first call.
func allocatesNothing(t *testing.T, what string, f func()) {
	t.Helper()
	f()
	if n := testing.AllocsPerRun(200, f); n > 0 {
		t.Errorf("%s: %v allocations", what, n)
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
	p, err := loop.Peer(in, w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Start(newJournal(nil))
	var m jsonrpc.Message
	if err := jsonrpc.Scan([]byte(relayed), &m); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1<<10)
	edits := []jsonrpc.Edit{{Span: m.ID, New: []byte("123456")}, {Span: m.Method, New: []byte(`"x"`)}}
	allocatesNothing(t, "Queue and Flush", func() {
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

func (h passOn) Message(m *jsonrpc.Message, out *Outgoing) {
	out.Edit(m.ID, newID)
	out.Pass(h.to, m)
}
func (passOn) Bad(*jsonrpc.Message, error, *Outgoing) {}
func (passOn) Closed(error)                           {}

// relay links two peers, each sending on to the other.
func relay(t testing.TB, open func(testing.TB, *Loop, Options) link) (client, server link) {
	loop, err := NewLoop()
	if err != nil {
		t.Fatal(err)
	}
	client, server = open(t, loop, Options{}), open(t, loop, Options{})
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
		call, reply := []byte(relayed+"\n"), reply(1000)
		buf := make([]byte, 4<<10)
		allocatesNothing(t, tr.name, func() {
			client.w.Write(call)
			server.r.Read(buf)
			server.w.Write(reply)
			client.r.Read(buf)
		})
	}
}

// A call of 100 bytes goes through a loop to a server and its answer comes back; both ends are read
// and written by the benchmark itself.
func BenchmarkPeerRelay(b *testing.B) {
	for _, tr := range append(portable, ofThisSystem...) {
		for _, size := range []int{100, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(tr.name, ", ", "/"), size), func(b *testing.B) {
				client, server := relay(b, tr.open)
				call, reply := []byte(relayed+"\n"), reply(size)
				buf := make([]byte, 64<<10)
				read := func(l link) {
					for n := 0; n == 0 || buf[n-1] != '\n'; {
						got, err := l.r.Read(buf[n:])
						if err != nil {
							b.Fatal(err)
						}
						n += got
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					client.w.Write(call)
					read(server)
					go server.w.Write(reply) // a net.Pipe holds nothing
					read(client)
				}
			})
		}
	}
}
