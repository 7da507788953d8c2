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
the token, which the client keeps and nobody else does, and its hash, which goes into
tools.toml. Neither can be printed again.`

func newTokenCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "token [AGENT]",
		Short:   "Make a token that lets a client in over HTTP",
		Long:    tokenHelp,
		Example: "  toolman token reviewer",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(fmt.Errorf("token takes one agent, not %q", args), "quote a name with spaces in it")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			token, hash := guard.NewToken()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), tokenText, token, agentKey(args), hash)
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

// tokenText has the token by itself, to be copied, and the hash as it stands in the file.
const tokenText = `# for the client, which sends it as Authorization: Bearer …
%s

# for tools.toml
[http.tokens]
%s = "%s"
`
