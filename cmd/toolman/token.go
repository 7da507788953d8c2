package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/router/httpd/guard"
)

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
