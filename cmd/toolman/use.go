package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/engine"
	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/httpd/bridge"
	"toolman/router/httpd/bridge/provider"
)

// use starts the servers, calls do as the agent, and ends them. It waits for one server or, with
// "", for all, until they are ready or gone. The trace and the audit log record what happens; the
// log has errors only.
func use(f *engine.Flags, cmd *cobra.Command, server string, do func(ctx context.Context, l *bridge.Local) error) error {
	return useWith(f, cmd, server, func(*router.Options) {}, func(ctx context.Context, _ *router.Router, l *bridge.Local) error { return do(ctx, l) })
}

// useWith is use with other options of the router.
func useWith(f *engine.Flags, cmd *cobra.Command, server string, change func(*router.Options), do func(ctx context.Context, r *router.Router, l *bridge.Local) error) error {
	f.DefaultLogLevel(cmd, "error")
	c, err := f.Load()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	p := engine.NewProgress(f.Stderr, c.Secrets, true)
	return engine.Run(ctx, f, c, p, func(e *engine.Engine) error {
		change(&e.RouterOptions)
		r := router.New(e.RouterOptions, e.Loop, e.Log)
		r.Await(server)
		r.Start(e.Reaper())
		r.HandshakeShared()
		defer r.Close()
		if err := p.Follow(ctx, r); err != nil {
			return err
		}
		b := bridge.New(r, bridge.Options{})
		defer b.Close()
		l, err := b.Local(ctx, client.Info{Name: "toolman " + cmd.Name(), Agent: c.Agent, Lists: "toolman tools"})
		if err != nil {
			return err
		}
		err = do(ctx, r, l)
		if failure, ok := errors.AsType[*bridge.Failure](err); ok {
			return cli.Failed(errors.New(sanitize.Line(failure.Message)), "this is "+string(failure.Code)+"; toolman check and toolman tools say what there is")
		}
		return err
	})
}

func newToolsCommand(f *engine.Flags) *cobra.Command {
	var format, server string
	var slim slimFlag
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the tools that may be called, in the format of a model's provider",
		Long: `tools starts the servers of tools.toml and prints the tools that the agent may call, active
or not, as JSON: as toolman serve answers GET /tools or, with --format, as the array that
the provider's API takes.`,
		Example: "  toolman tools --format anthropic --slim",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			as := bridge.Shape{Slim: slim.Level}
			if format != "" {
				var err error
				if as.Format, err = provider.ParseFormat(format); err != nil {
					return cli.Usage(err, "toolman tools --help says more")
				}
			}
			return use(f, cmd, server, func(_ context.Context, l *bridge.Local) error {
				all, err := l.Tools(server)
				if err != nil {
					return err
				}
				text, saved, err := bridge.List(all, as)
				if err != nil {
					return err
				}
				if as.Slim != provider.Whole {
					fmt.Fprintf(cmd.ErrOrStderr(), "toolman: saved %d bytes, about %d tokens\n", saved, catalog.Tokens(saved))
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
	cmd.Flags().Var(&slim, "slim", "shorten descriptions, leave out titles and examples; --slim=max: leave out all descriptions")
	cmd.Flags().Lookup("slim").NoOptDefVal = "true"
	f.AddTask(cmd)
	return cmd
}

// A slimFlag is a flag with an optional value.
type slimFlag struct{ provider.Level }

func (f *slimFlag) Set(value string) (err error) {
	f.Level, err = provider.ParseLevel(value)
	return err
}

// Type makes the help show the flag without a value.
func (f *slimFlag) Type() string { return "bool" }

// resultCommand adds to a command what is common to those that print the result of one request.
// get makes the request; server is the one it needs, or "" for all.
func resultCommand(f *engine.Flags, cmd *cobra.Command, server func(args []string) string, get func(ctx context.Context, l *bridge.Local, args []string) ([]byte, error)) *cobra.Command {
	var asJSON bool
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return use(f, cmd, server(args), func(ctx context.Context, l *bridge.Local) error {
			result, err := get(ctx, l, args)
			if err != nil {
				return err
			}
			return show(cmd.OutOrStdout(), result, asJSON)
		})
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole result, as its server wrote it")
	f.AddTask(cmd)
	return cmd
}

func allServers([]string) string { return "" }

func newCallCommand(f *engine.Flags) *cobra.Command {
	var arguments string
	cmd := &cobra.Command{
		Use:   "call SERVER TOOL",
		Short: "Call a tool",
		Long: `call starts the servers of tools.toml, calls a tool by the name that its server has for it,
prints the result and ends them. The call obeys the policies, limits and pins in force. The
exit code is 1 if the call was rejected or the tool reports an error.`,
		Example: `  toolman call fs read_file --args '{"path": "README.md"}'`,
		Args:    cli.Args(2, 2),
	}
	cmd.Flags().StringVar(&arguments, "args", "{}", "the arguments, a JSON `object`")
	server := func(args []string) string { return args[0] }
	return resultCommand(f, cmd, server, func(ctx context.Context, l *bridge.Local, args []string) ([]byte, error) {
		return l.Call(ctx, args[0], args[1], []byte(arguments))
	})
}

func newReadCommand(f *engine.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "read URI",
		Short:   "Read a resource",
		Long:    `read starts the servers of tools.toml, reads a resource, prints it and ends them.`,
		Example: "  toolman read notes_note://today",
		Args:    cli.Args(1, 1),
	}
	return resultCommand(f, cmd, allServers, func(ctx context.Context, l *bridge.Local, args []string) ([]byte, error) {
		return l.Read(ctx, args[0])
	})
}

func newPromptCommand(f *engine.Flags) *cobra.Command {
	arguments := argumentsFlag{}
	cmd := &cobra.Command{
		Use:     "prompt NAME",
		Short:   "Get a prompt",
		Long:    `prompt starts the servers of tools.toml, gets a prompt, prints its messages and ends them.`,
		Example: "  toolman prompt notes_summary --arg style=short",
		Args:    cli.Args(1, 1),
	}
	cmd.Flags().Var(arguments, "arg", "an argument, as `name=value`; several times for several")
	return resultCommand(f, cmd, allServers, func(ctx context.Context, l *bridge.Local, args []string) ([]byte, error) {
		return l.Prompt(ctx, args[0], arguments)
	})
}

// An argumentsFlag is a flag for each argument of a prompt. Values are as they are written: commas
// and quotes are part of them.
type argumentsFlag map[string]string

func (f argumentsFlag) Set(argument string) error {
	name, value, ok := strings.Cut(argument, "=")
	if !ok {
		return fmt.Errorf("%q is not name=value", argument)
	}
	f[name] = value
	return nil
}

func (f argumentsFlag) String() string { return "" }

func (f argumentsFlag) Type() string { return "argument" }

// show prints a result.
func show(out io.Writer, result []byte, asJSON bool) error {
	text, ok := bridge.Text(result)
	switch {
	case asJSON:
		text = sanitize.JSON(string(result))
	case cli.IsTerminal(out):
		text = sanitize.Lines(text)
	default:
		text = printable(text)
	}
	fmt.Fprintln(out, text)
	if !ok {
		return cli.Failed(errors.New("the tool reports an error"), "its message is above")
	}
	return nil
}

// printable returns a server's text without control characters, for a program.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return -1
	}, text)
}
