package tap

import (
	"bytes"
	"io"
	"os"
	"sync"

	"toolman/cmd/internal/tap/record"
	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/router/breakpoint"
)

const (
	// mostStopped is the longest line that can be stopped. A longer one passes in pieces.
	mostStopped = 8 << 20
	// mostAsked limits the open requests of a side whose names are known for their responses.
	mostAsked = 4096
)

// A stopper stops messages of a tap with --debug. It has a direction for each side.
type stopper struct {
	debugger *breakpoint.Debugger

	mu     sync.Mutex
	client string // guarded by mu: the name of the client
}

// A direction passes on the lines of one side, and is the handler behind its Gate. Lines that are
// no messages, or batches, pass as they are.
type direction struct {
	stopper *stopper
	gate    *breakpoint.Gate
	place   breakpoint.Place // without the name of the client
	end     func()           // ends the connection to the side
	other   *direction
	begun   []byte // the beginning of a line

	mu   sync.Mutex // held while a line is written
	to   *os.File
	copy *record.Stream
	err  error // guarded by mu: of writing
	long bool  // guarded by mu, which is then held: the rest of a long line follows

	askedMu sync.Mutex
	asked   map[string]breakpoint.Request // guarded by askedMu: open requests of the side, by ID
}

// stop makes the messages of the client's and the server's pump pass through Gates.
func stop(d *breakpoint.Debugger, client, server *pump, disconnectClient, disconnectServer func()) {
	s := &stopper{debugger: d, client: record.UnknownClient}
	in := &direction{stopper: s, place: breakpoint.Place{From: breakpoint.FromClient, Leg: trace.Client, Dir: trace.In}, end: disconnectClient,
		to: client.to, copy: client.copy, asked: map[string]breakpoint.Request{}}
	out := &direction{stopper: s, place: breakpoint.Place{From: breakpoint.FromServer, Leg: trace.Client, Dir: trace.Out}, end: disconnectServer,
		to: server.to, copy: server.copy, asked: map[string]breakpoint.Request{}}
	in.other, out.other = out, in
	in.gate, out.gate = d.Gate(in, in), d.Gate(out, out)
	client.stopped, server.stopped = in, out
}

// introduce takes the name of the client from its request, as the trace does.
func (s *stopper) introduce(m *jsonrpc.Message, method mcpwire.Method) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != record.UnknownClient && method != mcpwire.Initialize {
		return
	}
	if name := record.ClientName(m, method); name != "" {
		s.client = name
	}
}

// put takes the next bytes of the side.
func (d *direction) put(piece []byte) error {
	for len(piece) > 0 {
		n := bytes.IndexByte(piece, '\n') + 1
		ends := n > 0
		if !ends {
			n = len(piece)
		}
		part := piece[:n]
		piece = piece[n:]
		if d.long {
			d.writeLocked(part)
			if ends {
				d.long = false
				d.mu.Unlock()
			}
			continue
		}
		d.begun = append(d.begun, part...)
		switch {
		case ends:
			d.line(d.begun)
			d.begun = d.begun[:0]
		case len(d.begun) > mostStopped:
			d.mu.Lock()
			d.long = true
			d.writeLocked(d.begun)
			d.begun = nil
		}
	}
	if d.long {
		return d.err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// close says that the side has ended. What it has begun passes as it is. After the client, nothing
// is stopped any more.
func (d *direction) close() {
	if !d.long {
		d.mu.Lock()
	}
	if len(d.begun) > 0 {
		d.writeLocked(d.begun)
	}
	d.mu.Unlock()
	d.gate.Closed(io.EOF)
	if d.place.From == breakpoint.FromClient {
		d.stopper.debugger.Close()
	}
}

func (d *direction) line(line []byte) {
	var m jsonrpc.Message
	if jsonrpc.Scan(line[:len(line)-1], &m) == nil {
		d.gate.Message(&m, nil)
		return
	}
	d.write(line)
}

func (d *direction) write(text []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writeLocked(text)
}

// writeLocked passes text on. The copy comes first, as in pump.pass.
func (d *direction) writeLocked(text []byte) {
	d.copy.Put(text)
	if d.err == nil {
		_, d.err = d.to.Write(text)
	}
}

// Message implements peer.Handler.
func (d *direction) Message(m *jsonrpc.Message, _ *peer.Outgoing) {
	d.note(m)
	d.write(append(bytes.Clone(m.Frame), '\n'))
}

// Bad implements peer.Handler. The Gate gets only messages.
func (d *direction) Bad(*jsonrpc.Message, error, *peer.Outgoing) {}

// Closed implements peer.Handler.
func (d *direction) Closed(error) {}

// note remembers what a request is about, for its response, and which requests are answered.
func (d *direction) note(m *jsonrpc.Message) {
	switch m.Kind {
	case jsonrpc.Request:
		r := breakpoint.Request{Method: string(m.Text(m.Method))}
		if at, _, err := mcpwire.Target(m, mcpwire.Method(r.Method)); err == nil && at.Present() {
			r.Names = []string{string(m.Text(at))}
		}
		if d.place.From == breakpoint.FromClient {
			d.stopper.introduce(m, mcpwire.Method(r.Method))
		}
		d.askedMu.Lock()
		defer d.askedMu.Unlock()
		if len(d.asked) < mostAsked {
			d.asked[string(m.Bytes(m.ID))] = r
		}
	case jsonrpc.Response:
		d.other.askedMu.Lock()
		defer d.other.askedMu.Unlock()
		delete(d.other.asked, string(m.Bytes(m.ID)))
	}
}

// Place implements breakpoint.Side.
func (d *direction) Place() breakpoint.Place {
	d.stopper.mu.Lock()
	defer d.stopper.mu.Unlock()
	place := d.place
	place.Peer = d.stopper.client
	return place
}

// Asked implements breakpoint.Side.
func (d *direction) Asked(id []byte) breakpoint.Request {
	d.other.askedMu.Lock()
	defer d.other.askedMu.Unlock()
	return d.other.asked[string(id)]
}

// Answer implements breakpoint.Side.
func (d *direction) Answer(m *jsonrpc.Message, frame []byte, _ *peer.Outgoing) {
	d.Drop(m, nil)
	d.other.write(append(bytes.Clone(frame), '\n'))
}

// Drop implements breakpoint.Side. The trace has the message as one that came.
func (d *direction) Drop(m *jsonrpc.Message, _ *peer.Outgoing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.copy.Put(append(bytes.Clone(m.Frame), '\n'))
}

// Disconnect implements breakpoint.Side.
func (d *direction) Disconnect(string) { go d.end() }
