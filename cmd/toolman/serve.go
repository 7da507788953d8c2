package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/gateway"
	"toolman/cmd/internal/stdio"
	"toolman/router/httpd/guard"
)

// serve is an MCP server on standard input and output, until the client closes them or a signal
// ends ctx.
func serve(ctx context.Context, f *engine.Flags, c *config.Config) error {
	return engine.Run(ctx, f, c, f.Stderr, func(e *engine.Engine) error {
		f.Served = true
		return stdio.Serve(ctx, e, c.Agent, f.Stdin, f.Stdout)
	})
}

const serveHelp = `serve starts every server of tools.toml and offers their tools, resources and prompts to
any number of clients over streamable HTTP, in both eras of MCP, at
http://127.0.0.1:8900/mcp unless [http] in tools.toml or --http say otherwise.

SIGTERM ends it once the calls under way are answered. GET /health says whether it takes
clients, GET /healthz whether it is alive.`

func newServeCommand(f *engine.Flags) *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:              "serve",
		Short:            "Serve many clients over HTTP",
		Long:             serveHelp,
		Args:             cli.NoArgs,
		PersistentPreRun: func(*cobra.Command, []string) {}, // SIGHUP does not end it
		RunE: func(cmd *cobra.Command, _ []string) error {
			return gateway.Run(cmd.Context(), f, address)
		},
	}
	cmd.Flags().StringVar(&address, "http", "", "listen on `address` (host:port), instead of what [http] says")
	f.AddTrace(cmd)
	f.AddDebug(cmd)
	f.AddTask(cmd)
	return cmd
}

const stdioCommand = "stdio"

const stdioHelp = `stdio is an MCP server on standard input and output that passes everything on to another
server: it connects a client that starts its servers to a toolman that serves over HTTP, or
to any other server that speaks streamable HTTP. Messages are passed on unchanged.

The token comes from the file that --token-file names, which is read again when it changes,
or from the variable TOOLMAN_TOKEN.`

func newStdioCommand(f *engine.Flags) *cobra.Command {
	var to stdio.Target
	cmd := &cobra.Command{
		Use:     stdioCommand + " --connect URL",
		Short:   "Connect a client on standard input and output to a server over HTTP",
		Long:    stdioHelp,
		Example: "  TOOLMAN_TOKEN=tm_… toolman stdio --connect https://toolman.example.com/mcp",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to.URL == "" {
				return cli.Usage(errors.New("stdio needs to know where the server is"), "write toolman stdio --connect URL")
			}
			to.Token = os.Getenv("TOOLMAN_TOKEN")
			log, _, closeLog, err := engine.OpenLog(f.LogLevel, f.Stderr, []string{to.Token})
			if err != nil {
				return err
			}
			defer closeLog()
			return stdio.Join(cmd.Context(), &to, f.Stdin, f.Stdout, log)
		},
	}
	cmd.Flags().StringVar(&to.URL, "connect", "", "the server's `URL`, such as http://127.0.0.1:8900/mcp")
	cmd.Flags().StringVar(&to.TokenFile, "token-file", "", "`file` with the bearer token")
	cmd.Flags().StringVar(&to.CAFile, "ca-file", "", "`file` of PEM certificates to trust besides the system's")
	return cmd
}

const tokenHelp = `token makes a bearer token of 256 random bits for a toolman that serves over HTTP. It prints
the token, which only the client may keep, and on standard error its hash, which goes into
tools.toml. Neither can be printed again.`

func newTokenCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "token [AGENT]",
		Short:   "Make a bearer token for a client over HTTP",
		Long:    tokenHelp,
		Example: "  toolman token reviewer\n  export REVIEWER_TOKEN=$(toolman token)   # where tools.toml says ${REVIEWER_TOKEN}",
		Args:    cli.Args(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			token, hash := guard.NewToken()
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), token); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.ErrOrStderr(), tokenText, agentKey(args), hash)
			return err
		},
	}
}

// agentKey returns the agent as a key of TOML.
func agentKey(args []string) string {
	const bare = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	switch {
	case len(args) == 0:
		return "AGENT"
	case args[0] != "" && strings.Trim(args[0], bare) == "":
		return args[0]
	}
	return strconv.Quote(args[0])
}

// tokenText shows the agent and the hash as they are written in the file.
const tokenText = `
# The client sends that as Authorization: Bearer …; this is for tools.toml:
[http.tokens]
%s = "%s"
`
