package main

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/gateway"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/stdio"
	"toolman/mcpwire/streamhttp"
	"toolman/mcpwire/streamhttp/credential"
)

// serve is an MCP server on standard input and output, until the client closes them or a signal
// ends ctx.
func serve(ctx context.Context, f *flags, c *config.Config, at setup.Location) error {
	return engine.Run(ctx, engine.Options{Flags: f.engine, Config: c, At: at, Stderr: f.stderr}, func(e *engine.Engine) error {
		return stdio.Serve(ctx, e, c.Agent, f.stdin, f.stdout)
	})
}

const serveHelp = `serve starts every server of tools.toml and offers their tools, resources and prompts to
any number of clients over streamable HTTP, in both eras of MCP, at
http://127.0.0.1:8900/mcp unless [http] in tools.toml or --http say otherwise.

SIGTERM ends it once the calls under way are answered. GET /health says whether it takes
clients, GET /healthz whether it is alive.`

func newServeCommand(f *flags) *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:              "serve",
		Short:            "Serve many clients over HTTP",
		Long:             serveHelp,
		Args:             cli.NoArgs,
		PersistentPreRun: func(*cobra.Command, []string) {}, // SIGHUP does not end it
		RunE: func(cmd *cobra.Command, _ []string) error {
			return gateway.Run(cmd.Context(), &f.config, engine.Options{Flags: f.engine, Stderr: f.stderr}, address)
		},
	}
	cmd.Flags().StringVar(&address, "http", "", "listen on `address` (host:port), instead of what [http] says")
	f.engine.AddTrace(cmd)
	f.config.AddTask(cmd)
	return cmd
}

const stdioHelp = `stdio is an MCP server on standard input and output that passes everything on to another
server: it connects a client that starts its servers to a toolman that serves over HTTP, or
to any other server that speaks streamable HTTP. Messages are passed on unchanged.

The token comes from the file that --token-file names, which is read again when it changes,
or from the variable TOOLMAN_TOKEN.`

// A target is the server to which stdio connects.
type target struct{ url, tokenFile, caFile string }

func newStdioCommand(f *flags) *cobra.Command {
	var to target
	cmd := &cobra.Command{
		Use:     "stdio --connect URL",
		Short:   "Connect a client on standard input and output to a server over HTTP",
		Long:    stdioHelp,
		Example: "  TOOLMAN_TOKEN=tm_… toolman stdio --connect https://toolman.example.com/mcp",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to.url == "" {
				return cli.Usage(errors.New("stdio needs to know where the server is"), "write toolman stdio --connect URL")
			}
			token := os.Getenv("TOOLMAN_TOKEN")
			log, _, closeLog, err := engine.OpenLog(f.engine.LogLevel, f.stderr, []string{token})
			if err != nil {
				return err
			}
			defer closeLog()
			conn, err := streamhttp.Dial(to.options(token, log))
			if err != nil {
				return cli.Usage(err, "toolman stdio --help lists its flags")
			}
			defer conn.Close()
			return stdio.Join(cmd.Context(), conn, f.stdin, f.stdout, log)
		},
	}
	cmd.Flags().StringVar(&to.url, "connect", "", "the server's `URL`, such as http://127.0.0.1:8900/mcp")
	cmd.Flags().StringVar(&to.tokenFile, "token-file", "", "`file` with the bearer token")
	cmd.Flags().StringVar(&to.caFile, "ca-file", "", "`file` of PEM certificates to trust besides the system's")
	return cmd
}

// options returns the options of the connection to the server.
func (to *target) options(token string, log *zap.Logger) streamhttp.Options {
	o := streamhttp.Options{URL: to.url, CAFile: to.caFile, Header: http.Header{"User-Agent": {setup.UserAgent()}},
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

// exposed reports whether others can read on the network what is sent to a URL.
func exposed(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || u.Hostname() == "localhost" {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return err != nil || !addr.IsLoopback()
}
