package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/httpd/bridge"
	"toolman/router/httpd/bridge/provider"
)

// use starts the servers, does something with them as the agent, and ends them. It waits for the
// one of a name or, with "", for all, until they are ready or gone. What happens is in the trace
// and the audit log, and the log has only what is wrong.
func (a *app) use(cmd *cobra.Command, server string, do func(ctx context.Context, l *bridge.Local) error) error {
	if !cmd.Flags().Changed("log-level") {
		a.logLevel = "error"
	}
	c, at, err := a.load()
	if err != nil {
		return err
	}
	a.progress = newProgress(a.stderr, c.Secrets, true)
	return a.withRouter(cmd.Context(), c, at, func(o router.Options, loop *jsonrpc.Loop, log *zap.Logger) error {
		r := router.New(o, loop, log)
		r.Await(server)
		r.Start(a.guard())
		r.GreetShared()
		defer r.Close()
		if err := a.progress.follow(cmd.Context(), r); err != nil {
			return err
		}
		b := bridge.New(r, bridge.Options{})
		defer b.Close()
		l, err := b.Local(cmd.Context(), router.Client{Name: "toolman " + cmd.Name(), Agent: c.Agent, Lists: "toolman tools"})
		if err != nil {
			return err
		}
		return explained(do(cmd.Context(), l))
	})
}

// explained is an error of the bridge with its code as the hint.
func explained(err error) error {
	if f, ok := errors.AsType[*bridge.Failure](err); ok {
		return &exitError{errors.New(sanitize.Line(f.Message)), exitFailed, "this is " + string(f.Code) + "; toolman check and toolman tools say what there is"}
	}
	return err
}

func newToolsCommand(a *app) *cobra.Command {
	var format, server string
	var slim bool
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the tools that may be called, as a model's provider takes them",
		Long: `tools starts the servers of tools.toml and prints the tools that the agent may call, active
or not, as JSON: as toolman serve answers GET /tools or, with --format, as the array that
the provider's API takes.`,
		Example: "  toolman tools --format anthropic --slim",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			as := bridge.Shape{Slim: slim}
			if format != "" {
				var err error
				if as.Format, err = provider.ParseFormat(format); err != nil {
					return usage(err, "toolman tools --help says more")
				}
			}
			return a.use(cmd, server, func(_ context.Context, l *bridge.Local) error {
				all, err := l.Tools(server)
				if err != nil {
					return err
				}
				text, saved, err := bridge.List(all, as)
				if err != nil {
					return err
				}
				if slim {
					fmt.Fprintf(cmd.ErrOrStderr(), "toolman: saved %d bytes, about %d tokens\n", saved, bridge.Tokens(saved))
				}
				if most := provider.Most(as.Format); most > 0 && len(all) > most {
					fmt.Fprintf(cmd.ErrOrStderr(), "toolman: %d tools; %s takes %d in a request: list one --server, or allow an --agent less\n", len(all), as.Format, most)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s\n", sanitize.JSON(strings.TrimSpace(string(text))))
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "", "`format` of a provider: openai, openai-responses, anthropic, gemini, xai or mcp")
	cmd.Flags().StringVar(&server, "server", "", "only tools of this `server`")
	cmd.Flags().BoolVar(&slim, "slim", false, "leave out what costs tokens and changes nothing")
	a.addTaskFlags(cmd)
	return cmd
}

func newCallCommand(a *app) *cobra.Command {
	var arguments string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "call SERVER TOOL",
		Short: "Call a tool",
		Long: `call starts the servers of tools.toml, calls a tool by the name that its server has for it,
prints the result and ends them. The call obeys the policies, limits and pins in force. The
exit code is 1 when it was refused, or when the tool says that it failed.`,
		Example: `  toolman call fs read_file --args '{"path": "README.md"}'`,
		Args:    exactly(2, "a server and a tool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.use(cmd, args[0], func(ctx context.Context, l *bridge.Local) error {
				result, err := l.Call(ctx, args[0], args[1], []byte(arguments))
				if err != nil {
					return err
				}
				return show(cmd.OutOrStdout(), result, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&arguments, "args", "{}", "the arguments, a JSON `object`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole result, as its server wrote it")
	a.addTaskFlags(cmd)
	return cmd
}

func newReadCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "read URI",
		Short:   "Read a resource",
		Long:    `read starts the servers of tools.toml, reads a resource, prints it and ends them.`,
		Example: "  toolman read notes_note://today",
		Args:    exactly(1, "a URI"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.use(cmd, "", func(ctx context.Context, l *bridge.Local) error {
				result, err := l.Read(ctx, args[0])
				if err != nil {
					return err
				}
				return show(cmd.OutOrStdout(), result, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole result, as its server wrote it")
	a.addTaskFlags(cmd)
	return cmd
}

func newPromptCommand(a *app) *cobra.Command {
	var asJSON bool
	var arguments map[string]string
	cmd := &cobra.Command{
		Use:     "prompt NAME",
		Short:   "Get a prompt",
		Long:    `prompt starts the servers of tools.toml, gets a prompt, prints its messages and ends them.`,
		Example: "  toolman prompt notes_summary --arg style=short",
		Args:    exactly(1, "a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.use(cmd, "", func(ctx context.Context, l *bridge.Local) error {
				result, err := l.Prompt(ctx, args[0], arguments)
				if err != nil {
					return err
				}
				return show(cmd.OutOrStdout(), result, asJSON)
			})
		},
	}
	cmd.Flags().StringToStringVar(&arguments, "arg", nil, "an argument, as `name=value`; several times for several")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole result, as its server wrote it")
	a.addTaskFlags(cmd)
	return cmd
}

// exactly wants so many words.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usage(fmt.Errorf("%s needs %s, not %d words", cmd.CommandPath(), what, len(args)), cmd.CommandPath()+" --help shows an example")
		}
		return nil
	}
}

// show prints a result.
func show(out io.Writer, result []byte, asJSON bool) error {
	text, ok := bridge.Text(result)
	switch {
	case asJSON:
		text = sanitize.JSON(string(result))
	case isTerminal(out):
		text = sanitize.Lines(text)
	default:
		text = printable(text)
	}
	fmt.Fprintln(out, text)
	if !ok {
		return &exitError{errors.New("the tool says that it failed"), exitFailed, "what it says is above"}
	}
	return nil
}

// printable is a server's text for a program, without control characters.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return -1
	}, text)
}
