package signin

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"toolman/mcpwire/httpclient"
)

// addresses says where the server is.
type addresses struct {
	mu      sync.Mutex
	private bool // guarded by mu: a connection was to an address that is not public
	public  bool // guarded by mu: a connection was to one that is
}

// note notes the address of a connection.
func (a *addresses) note(remote net.Addr) {
	at, err := netip.ParseAddrPort(remote.String())
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil && !httpclient.IsPublic(at.Addr()) {
		a.private = true
	} else {
		a.public = true
	}
}

// serverClient returns a client for the server. It notes the addresses that it connects to: what a
// lookup says later may be another one. Through a proxy it does not know them.
func (f *Flow) serverClient() (*http.Client, error) {
	t, err := httpclient.NewTransport(f.CAFile)
	if err != nil {
		return nil, err
	}
	dial := t.DialContext
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if host, _, _ := net.SplitHostPort(address); err == nil && strings.EqualFold(host, f.server.Hostname()) {
			f.met.note(conn.RemoteAddr())
		}
		return conn, err
	}
	return &http.Client{Transport: t, CheckRedirect: httpclient.CheckRedirect}, nil
}

// rules returns where requests may go whose URLs the server names.
func (f *Flow) rules() httpclient.Guard {
	f.met.mu.Lock()
	defer f.met.mu.Unlock()
	private := f.met.private && !f.met.public
	return httpclient.Guard{HTTP: private || f.server.Scheme == "http", Private: private, Named: f.Guard().Named(), CAFile: f.CAFile}
}
