package stdio

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"go.uber.org/zap"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/setup"
	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire/streamhttp"
	"toolman/mcpwire/streamhttp/credential"
	"toolman/router/dial"
)

// A Target is a server over HTTP.
type Target struct {
	URL, CAFile string
	TokenFile   string // read again when it changes
	Token       string // without a TokenFile
}

// options returns the options of the connection to the server.
func (to *Target) options(log *zap.Logger) streamhttp.Options {
	o := streamhttp.Options{URL: to.URL, CAFile: to.CAFile, Header: http.Header{"User-Agent": {setup.UserAgent()}},
		Log: func(text string) { log.Warn(text) }}
	switch {
	case to.TokenFile != "":
		o.Credential = credential.NewTokenFile(to.TokenFile, credential.OAuth{})
	case to.Token != "":
		o.Header.Set("Authorization", "Bearer "+strings.TrimSpace(to.Token))
	default:
		return o
	}
	if exposed(to.URL) {
		log.Warn("the token goes to another machine without TLS, where others may read it; use an https URL")
	}
	return o
}

// exposed reports whether others can read on the network what is sent to a URL.
func exposed(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || u.Hostname() == "localhost" {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return err != nil || !addr.IsLoopback()
}

// Join connects the client on standard input and output to a server over HTTP, until one of the
// two closes the connection. It passes messages on unchanged.
func Join(ctx context.Context, to *Target, stdin, stdout *os.File, log *zap.Logger) error {
	conn, err := streamhttp.Dial(to.options(log))
	if err != nil {
		return cli.Usage(err, "toolman stdio --help lists its flags")
	}
	defer conn.Close()
	loop, err := peer.NewLoop()
	if err != nil {
		return err
	}
	defer loop.Close()
	peer, end, err := open(loop, stdin, stdout)
	if err != nil {
		return err
	}
	defer end()
	log.Info("connecting", zap.Stringer("url", conn))
	client := &pipe{to: conn, replyTo: peer, log: log, closed: make(chan error, 1)}
	server := &pipe{to: peer, log: log, closed: make(chan error, 1)}
	conn.Start(server)
	peer.Start(client)
	select {
	case <-ctx.Done():
		log.Info("ending: " + context.Cause(ctx).Error())
	case <-client.closed:
		log.Info("ending: the client has closed the connection")
		drain(ctx, peer, conn.Answering)
	case err := <-server.closed:
		return cli.Failed(fmt.Errorf("%s: %w", conn, err), "see whether the server runs, and start again")
	}
	dial.CloseHTTP(conn)
	return nil
}

// A pipe handles the messages of one side: it passes them on to the other.
type pipe struct {
	to      peer.Sender
	replyTo peer.Sender // the side itself, if it gets an answer to a bad message; else nil
	log     *zap.Logger
	closed  chan error
}

// Message implements peer.Handler.
func (p *pipe) Message(m *jsonrpc.Message, out *peer.Outgoing) {
	frame := m.Frame
	if m.BothResultAndError { // strict readers reject it as it is
		if frame = jsonrpc.AppendResult(nil, m.Bytes(m.ID), m.Bytes(m.Result)); m.Err.Present() {
			frame = jsonrpc.AppendErrorResponse(nil, m.Bytes(m.ID), m.Bytes(m.Err))
		}
	}
	if err := out.Send(p.to, frame); err != nil {
		p.reject(m, jsonrpc.CodeInternalError, fmt.Errorf("not passed on: %w", err), out)
	}
}

// Bad implements peer.Handler.
func (p *pipe) Bad(m *jsonrpc.Message, err error, out *peer.Outgoing) {
	code := int64(jsonrpc.CodeInvalidRequest)
	if _, syntax := errors.AsType[*jsonrpc.SyntaxError](err); syntax {
		code = jsonrpc.CodeParseError
	}
	p.reject(m, code, err, out)
}

// reject reports that a message is not passed on.
func (p *pipe) reject(m *jsonrpc.Message, code int64, err error, out *peer.Outgoing) {
	var id []byte
	if m.ID.Present() {
		id = m.Bytes(m.ID)
	} else if long, ok := errors.AsType[*jsonrpc.TooLongError](err); ok {
		id, _ = long.Peek()
	}
	p.log.Warn("a message is not passed on", zap.NamedError("err", err))
	if p.replyTo != nil && m.Kind != jsonrpc.Notification && m.Kind != jsonrpc.Response {
		out.Send(p.replyTo, jsonrpc.AppendError(nil, id, code, err.Error(), nil))
	}
}

// Closed implements peer.Handler.
func (p *pipe) Closed(err error) { p.closed <- err }
