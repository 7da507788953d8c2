package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"toolman/cmd/internal/stdio"
	"toolman/jsonrpc"
	"toolman/mcpwire/streamhttp"
	"toolman/mcpwire/streamhttp/credential"
	"toolman/router/dial"
)

const connectHelp = `stdio is an MCP server on standard input and output that is really somewhere else: it joins a
client that starts its servers to a toolman that serves over HTTP, or to any other server
that speaks streamable HTTP. What the client says and hears is passed on as it is.

A token is taken from the file that --token-file names, which is read again when it
changes, or from the variable TOOLMAN_TOKEN.`

// A connection is what the flags of stdio say.
type connection struct {
	url, tokenFile, caFile string
}

func newStdioCommand(a *app) *cobra.Command {
	var to connection
	cmd := &cobra.Command{
		Use:     "stdio --connect URL",
		Short:   "Join a client on standard input and output to a server over HTTP",
		Long:    connectHelp,
		Example: "  TOOLMAN_TOKEN=tm_… toolman stdio --connect https://toolman.example.com/mcp",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to.url == "" {
				return usage(errors.New("stdio needs to know where the server is"), "write toolman stdio --connect URL")
			}
			return a.connect(cmd.Context(), to)
		},
	}
	cmd.Flags().StringVar(&to.url, "connect", "", "the server's `URL`, such as http://127.0.0.1:8900/mcp")
	cmd.Flags().StringVar(&to.tokenFile, "token-file", "", "`file` with the bearer token")
	cmd.Flags().StringVar(&to.caFile, "ca-file", "", "`file` of PEM certificates to trust besides the system's")
	return cmd
}

// connect joins standard input and output to a server, until one of the two ends.
func (a *app) connect(ctx context.Context, to connection) error {
	token := os.Getenv("TOOLMAN_TOKEN")
	log, logged, err := a.openLog([]string{token})
	if err != nil {
		return err
	}
	defer logged()
	conn, err := streamhttp.Dial(to.options(token, log))
	if err != nil {
		return usage(err, "toolman stdio --help says what it takes")
	}
	defer conn.Close()
	loop, err := jsonrpc.NewLoop()
	if err != nil {
		return err
	}
	defer loop.Close()
	in, out, flush, err := stdio.Open(a.stdin, a.stdout)
	if err != nil {
		return err
	}
	peer, err := loop.Peer(in, out, jsonrpc.PeerOptions{QueueLimit: clientQueue, Pressure: true})
	if err != nil {
		return err
	}
	log.Info("connecting", zap.Stringer("url", conn))
	err = join(ctx, peer, conn, log)
	peer.CloseWrite()
	flush(flushTime)
	peer.Close()
	return err
}

// options are those of the connection to the server.
func (to *connection) options(token string, log *zap.Logger) streamhttp.Options {
	o := streamhttp.Options{URL: to.url, CAFile: to.caFile, Header: http.Header{"User-Agent": {userAgent()}},
		Log: func(text string) { log.Warn(text) }}
	switch {
	case to.tokenFile != "":
		o.Credential = credential.NewTokenFile(to.tokenFile, credential.OAuth{})
	case token != "":
		o.Header.Set("Authorization", "Bearer "+strings.TrimSpace(token))
	default:
		return o
	}
	if exposed(to.url) {
		log.Warn("the token goes to another machine without TLS, where others may read it; use an https URL")
	}
	return o
}

// exposed reports whether what is sent to a URL can be read on the way.
func exposed(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || u.Hostname() == "localhost" {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return err != nil || !addr.IsLoopback()
}

// join passes on what comes on either side until the client has closed its own, or
// the server's is over.
func join(ctx context.Context, peer *jsonrpc.Peer, conn *streamhttp.Conn, log *zap.Logger) error {
	client := &joined{to: conn, answer: peer, log: log, over: make(chan error, 1)}
	server := &joined{to: peer, log: log, over: make(chan error, 1)}
	conn.Start(server)
	peer.Start(client)
	select {
	case <-ctx.Done():
		log.Info("ending: " + context.Cause(ctx).Error())
	case <-client.over:
		log.Info("ending: the client has closed the connection")
		drained(ctx, peer, conn.Answering)
	case err := <-server.over:
		return &exitError{fmt.Errorf("%s: %w", conn, err), exitFailed, "see whether the server runs, and start again"}
	}
	dial.CloseHTTP(conn)
	return nil
}

// joined passes on what comes from one side to the other. It is that side's handler.
type joined struct {
	to     jsonrpc.Sender
	answer jsonrpc.Sender // the side itself, if it is told what is wrong; nil: it is logged
	log    *zap.Logger
	over   chan error
}

// Message implements jsonrpc.Handler.
func (j *joined) Message(m *jsonrpc.Message, b *jsonrpc.Batch) {
	frame := m.Frame
	if m.Loose { // strict readers refuse it as it is
		if frame = jsonrpc.AppendResult(nil, m.Bytes(m.ID), m.Bytes(m.Result)); m.Err.Present() {
			frame = jsonrpc.AppendErrorResponse(nil, m.Bytes(m.ID), m.Bytes(m.Err))
		}
	}
	if err := b.Send(j.to, frame); err != nil {
		j.refuse(m, jsonrpc.CodeInternalError, fmt.Errorf("not passed on: %w", err), b)
	}
}

// Bad implements jsonrpc.Handler.
func (j *joined) Bad(m *jsonrpc.Message, err error, b *jsonrpc.Batch) {
	code := int64(jsonrpc.CodeInvalidRequest)
	if _, syntax := errors.AsType[*jsonrpc.SyntaxError](err); syntax {
		code = jsonrpc.CodeParseError
	}
	j.refuse(m, code, err, b)
}

// refuse says that a message does not go on.
func (j *joined) refuse(m *jsonrpc.Message, code int64, err error, b *jsonrpc.Batch) {
	var id []byte
	if m.ID.Present() {
		id = m.Bytes(m.ID)
	} else if long, ok := errors.AsType[*jsonrpc.TooLongError](err); ok {
		id, _ = long.Peek()
	}
	j.log.Warn("a message is not passed on", zap.NamedError("err", err))
	if j.answer != nil && m.Kind != jsonrpc.Notification && m.Kind != jsonrpc.Response {
		b.Send(j.answer, jsonrpc.AppendError(nil, id, code, err.Error(), nil))
	}
}

// Closed implements jsonrpc.Handler.
func (j *joined) Closed(err error) { j.over <- err }
