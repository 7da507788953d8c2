package dial

import (
	"strings"
	"sync"
	"time"

	"toolman/jsonrpc/peer"
	"toolman/mcpwire/streamhttp"
)

const (
	// closeHTTP is how long a remote server may take to be told that its session ends. Some
	// clients kill toolman 350 ms after asking it to end.
	closeHTTP = 200 * time.Millisecond

	maxNotes = 10 // log lines of a connection that LastWords returns
)

// A remote is the connection to a server that toolman reaches over HTTP.
type remote struct {
	*streamhttp.Conn
	log func(line string)

	mu    sync.Mutex
	notes []string // guarded by mu: the latest log lines
}

// HTTP connects to a server over HTTP. log receives what the connection reports outside the
// protocol; it replaces o.Log.
func HTTP(o streamhttp.Options, log func(line string)) (Conn, error) {
	r := &remote{log: log}
	o.Log = r.note
	var err error
	if r.Conn, err = streamhttp.Dial(o); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *remote) note(text string) {
	r.log(text)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes[max(0, len(r.notes)-maxNotes+1):], text)
}

// Out implements Conn.
func (r *remote) Out() peer.Sender { return r.Conn }

// Start implements Conn.
func (r *remote) Start(h peer.Handler, _ <-chan struct{}) { r.Conn.Start(h) }

// Stop implements Conn.
func (r *remote) Stop() {
	CloseHTTP(r.Conn)
	r.Close()
	<-r.Done()
}

// CloseHTTP tells the server that the session ends, and waits a moment until it has been told.
func CloseHTTP(conn *streamhttp.Conn) {
	conn.CloseWrite()
	select {
	case <-conn.Done():
	case <-time.After(closeHTTP):
	}
}

// Cause implements Conn.
func (r *remote) Cause(err error) (why string, failed bool) {
	return "the connection to " + r.String() + " ended: " + err.Error(), true
}

// LastWords implements Conn.
func (r *remote) LastWords() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.notes, "\n")
}
