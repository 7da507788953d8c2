package main

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"toolman/cmd/internal/config"
	"toolman/jsonrpc"
	"toolman/mcpwire/streamhttp"
	"toolman/mcpwire/streamhttp/credential"
	"toolman/router"
)

// partingTime is how long a remote server may take to be told that its session ends. Some
// clients kill toolman 350 ms after asking it to end.
const partingTime = 200 * time.Millisecond

// maxNotes is how much is kept of what a connection has to say, in lines.
const maxNotes = 10

// A remote is the router's connection to a server that toolman reaches over HTTP.
type remote struct {
	conn *streamhttp.Conn
	said func(line string)

	mu    sync.Mutex
	notes []string // guarded by mu: what the connection said lately
}

// dialer returns what connects to a server of the configuration.
func dialer(s *config.Server) func(said func(line string)) (router.Conn, error) {
	if s.Remote == nil {
		return nil
	}
	return func(said func(line string)) (router.Conn, error) {
		r := &remote{said: said}
		o := streamhttp.Options{URL: s.Remote.URL, Header: s.Remote.Header.Clone(), CAFile: s.Remote.CAFile, FrameLimit: s.MaxMessageBytes,
			Parallel: maxCalls(s) + ownRequests, Log: r.note}
		if o.Header.Get("User-Agent") == "" {
			o.Header.Set("User-Agent", userAgent())
		}
		var err error
		if o.Credential, err = credentialOf(s.Remote); err != nil {
			return nil, err
		}
		if r.conn, err = streamhttp.Dial(o); err != nil {
			return nil, err
		}
		return r, nil
	}
}

// ownRequests is how many requests a server at a url may have under way besides calls.
const ownRequests = 256

// maxCalls is how many calls a server has at once; 0 is any number.
func maxCalls(s *config.Server) int {
	const remote = 256
	if s.Remote != nil {
		return cmp.Or(s.MaxCalls, remote)
	}
	return s.MaxCalls
}

// maxCallsAt is where maxCalls is written.
func maxCallsAt(s *config.Server, file string) string {
	if s.MaxCalls == 0 {
		return "the default for a url"
	}
	return fmt.Sprintf("%s:%d", file, s.MaxCallsLine)
}

// commandOf is how a server is started or reached, for the trace.
func commandOf(s *config.Server) string {
	switch {
	case s.Socket != "":
		return "socket " + s.Socket
	case s.Remote == nil:
		return strings.Join(s.Argv, " ")
	}
	u, err := url.Parse(s.Remote.URL)
	if err != nil {
		return ""
	}
	return streamhttp.Shown(u)
}

func userAgent() string { return "toolman/" + strings.Fields(version())[0] }

// credentialOf is what gets the tokens that a server wants; nil when it wants none.
func credentialOf(r *config.Remote) (streamhttp.Credential, error) {
	if r.OAuth == nil {
		return nil, nil
	}
	client, err := streamhttp.NewClient(r.CAFile)
	if err != nil {
		return nil, err
	}
	of := credential.OAuth{TokenURL: r.OAuth.TokenURL, ClientID: r.OAuth.ClientID, ClientSecret: r.OAuth.ClientSecret,
		Scopes: r.OAuth.Scopes, HTTP: client}
	if r.OAuth.TokenFile != "" {
		return credential.NewTokenFile(r.OAuth.TokenFile, of), nil
	}
	if u, err := url.Parse(r.URL); err == nil {
		of.Resource = streamhttp.Shown(u)
	}
	return credential.NewClientCredentials(of), nil
}

// note keeps what the connection has to say beside the protocol.
func (r *remote) note(text string) {
	r.said(text)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes[max(0, len(r.notes)-maxNotes+1):], text)
}

// Out implements router.Conn.
func (r *remote) Out() jsonrpc.Sender { return r.conn }

// Start implements router.Conn.
func (r *remote) Start(h jsonrpc.Handler, _ <-chan struct{}) { r.conn.Start(h) }

// Stop implements router.Conn.
func (r *remote) Stop() {
	r.conn.CloseWrite()
	select {
	case <-r.conn.Done():
	case <-time.After(partingTime):
	}
	r.conn.Close()
	<-r.conn.Done()
}

// Cause implements router.Conn.
func (r *remote) Cause(err error) string {
	return "the connection to " + r.conn.String() + " ended: " + err.Error()
}

// LastWords implements router.Conn.
func (r *remote) LastWords() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.notes, "\n")
}

// String implements router.Conn.
func (r *remote) String() string { return r.conn.String() }
