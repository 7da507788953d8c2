package main

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"

	"github.com/spf13/cobra"

	"toolman/router/httpd/guard"
)

const tokenHelp = `token makes a bearer token of 256 random bits for a toolman that serves over HTTP. It prints
the token, which the client keeps and nobody else does, and on standard error its hash,
which goes into tools.toml. Neither can be printed again.`

func newTokenCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "token [AGENT]",
		Short:   "Make a token that lets a client in over HTTP",
		Long:    tokenHelp,
		Example: "  toolman token reviewer\n  export REVIEWER_TOKEN=$(toolman token)   # where tools.toml says ${REVIEWER_TOKEN}",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(fmt.Errorf("token takes one agent, not %q", args), "quote a name with spaces in it")
			}
			return nil
		},
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

// agentKey is the agent as a key of TOML.
func agentKey(args []string) string {
	switch {
	case len(args) == 0:
		return "AGENT"
	case bareKey().MatchString(args[0]):
		return args[0]
	}
	return strconv.Quote(args[0])
}

var bareKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })

// tokenText has the hash as it stands in the file.
const tokenText = `
# The client sends that as Authorization: Bearer …; this is for tools.toml:
[http.tokens]
%s = "%s"
`
