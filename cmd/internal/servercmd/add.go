package servercmd

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config/byname"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/toolsfile"
	"toolman/cmd/internal/translate"
	"toolman/mcpwire/sanitize"
)

// New returns toolman add and toolman remove.
func New(f *setup.Flags) []*cobra.Command {
	return []*cobra.Command{newAdd(f), newRemove(f)}
}

const addHelp = `add appends a server to tools.toml, which it makes if there is none. NAME is the namespace:
the prefix of the names of its tools. Comments and everything else in the file stay as they
are. The command gets its arguments as they are written here: no shell runs.

Values may refer to variables and files: '${NAME}', '${NAME:-default}', '${file:path}'.
--env NAME alone is --env 'NAME=${NAME}'. Secrets belong into variables: add refuses to write
one in clear text, unless --clear-text is given.`

// An addition is the command line of add.
type addition struct {
	env, headers     list
	cwd, description string
	dryRun, replace  bool
	clearText        bool
}

func newAdd(f *setup.Flags) *cobra.Command {
	a := &addition{}
	cmd := &cobra.Command{
		Use:   "add NAME -- COMMAND... | add NAME URL",
		Short: "Add a server to tools.toml",
		Long:  addHelp,
		Example: "  toolman add fs -- npx -y @modelcontextprotocol/server-filesystem .\n" +
			"  toolman add github --env GITHUB_TOKEN -- npx -y @modelcontextprotocol/server-github\n" +
			"  toolman add tracker https://tracker.example.com/mcp --header 'Authorization=Bearer ${TRACKER_TOKEN}'",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) >= 2 && (cmd.ArgsLenAtDash() == 1 || len(args) == 2 && cmd.ArgsLenAtDash() < 0 && strings.Contains(args[1], "://")) {
				return nil
			}
			return cli.Usage(errors.New("toolman add takes a name, and a command behind -- or a URL"), "write toolman add NAME -- COMMAND..., or toolman add NAME URL")
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(f, cmd, args) },
	}
	cmd.Flags().Var(&a.env, "env", "a `variable` for the server, as NAME=VALUE or NAME; several times for several")
	cmd.Flags().Var(&a.headers, "header", "a `header` for the server at a URL, as NAME=VALUE; several times for several")
	cmd.Flags().StringVar(&a.cwd, "cwd", "", "`folder` to start the server in")
	cmd.Flags().StringVar(&a.description, "description", "", "`text` that says what the server is for")
	cmd.Flags().BoolVar(&a.replace, "replace", false, "replace the server of that name, if there is one")
	cmd.Flags().BoolVar(&a.clearText, "clear-text", false, "write secrets into the file as they are")
	cmd.Flags().BoolVar(&a.dryRun, "dry-run", false, "print what would change, and change nothing")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return cli.Usage(err, "write -- before the command of the server: toolman add NAME -- COMMAND...")
	})
	return cmd
}

// A list is a flag that can be given several times. Commas are part of its values.
type list []string

func (l *list) Set(value string) error { *l = append(*l, value); return nil }
func (l *list) String() string         { return "" }
func (l *list) Type() string           { return "string" }

func (a *addition) run(f *setup.Flags, cmd *cobra.Command, args []string) error {
	s, err := a.server(cmd.ErrOrStderr(), args[0], args[1:], cmd.ArgsLenAtDash() == 1)
	if err != nil {
		return err
	}
	file, exists, err := open(f)
	if err != nil {
		return err
	}
	if err := check(s, file.Path); err != nil {
		return err
	}
	written, err := file.Written()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(written, func(w toolsfile.Server) bool { return w.Namespace == s.Namespace })
	var text []byte
	switch {
	case at >= 0 && s.Same(written[at]):
		fmt.Fprintf(cmd.ErrOrStderr(), "toolman: server %s is in %s already\n", s.Namespace, file.Path)
		return nil
	case at >= 0 && !a.replace:
		return cli.Failed(fmt.Errorf("%s has a server %s already, which is another one", file.Path, s.Namespace), "choose another name, or add --replace")
	case at >= 0:
		text, err = file.Replace(s)
	default:
		text, err = file.Append(s)
	}
	if err != nil {
		return err
	}
	if err := save(cmd.OutOrStdout(), file, exists, text, a.dryRun); err != nil || a.dryRun {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "toolman: server %s is in %s now; toolman check starts it\n", s.Namespace, file.Path)
	if names := unset(s); len(names) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "toolman: not set here, and the server needs it: %s\n", strings.Join(names, ", "))
	}
	return nil
}

// server makes the server of the command line.
func (a *addition) server(warn io.Writer, name string, words []string, isCommand bool) (s toolsfile.Server, err error) {
	if s.Namespace = name; !byname.IsNamespace(name) {
		hint := byname.NamespaceHint
		if like := byname.LikeNamespace(name); like != "" {
			hint = "write " + like
		}
		return s, cli.Usage(fmt.Errorf("%s cannot be the name of a server", sanitize.Quoted(name, 60)), hint)
	}
	s.Description = a.description
	if isCommand {
		s.Command, s.Args = words[0], words[1:]
		if len(a.headers) > 0 {
			return s, cli.Usage(errors.New("--header is for a server at a URL"), "write --env for a server with a command")
		}
	} else {
		s.URL = words[0]
		if len(a.env) > 0 || a.cwd != "" {
			return s, cli.Usage(errors.New("--env and --cwd are for a server with a command"), "write --header for a server at a URL")
		}
	}
	if s.Cwd = a.cwd; a.cwd != "" && !strings.HasPrefix(a.cwd, "~") && !strings.Contains(a.cwd, "${") {
		if s.Cwd, err = filepath.Abs(a.cwd); err != nil {
			return s, err
		}
	}
	for _, one := range a.env {
		name, value, ok := strings.Cut(one, "=")
		if !ok {
			value = "${" + name + "}"
		}
		s.Env = append(s.Env, toolsfile.Pair{Name: name, Value: value})
	}
	for _, one := range a.headers {
		name, value, ok := strings.Cut(one, "=")
		if colon, after, isHeader := strings.Cut(one, ":"); isHeader && (!ok || len(colon) < len(name)) {
			name, value, ok = colon, strings.TrimSpace(after), true
		}
		if !ok {
			return s, cli.Usage(fmt.Errorf("--header %s has no value", sanitize.Quoted(name, 60)), "write --header NAME=VALUE")
		}
		s.Headers = append(s.Headers, toolsfile.Pair{Name: name, Value: value})
	}
	err = inClear(s)
	if a.clearText && err != nil {
		fmt.Fprintf(warn, "toolman: warning: %s\n", err)
		err = nil
	}
	return s, err
}

// inClear returns an error for a secret that would be in the file in clear text.
func inClear(s toolsfile.Server) error {
	refuse := func(what, hint string) error {
		return cli.Usage(errors.New(what+" looks like a secret, and everyone who reads tools.toml could read it"), hint+"; or add --clear-text")
	}
	isClear := func(name, value string) bool {
		return translate.IsSecret(name, value) && !strings.Contains(value, "${")
	}
	for _, p := range s.Env {
		if isClear(p.Name, p.Value) {
			return refuse("the value of "+sanitize.Line(p.Name), "set the variable where toolman is started, and write --env "+sanitize.Line(p.Name))
		}
	}
	for _, p := range s.Headers {
		if isClear(p.Name, p.Value) {
			return refuse("the header "+sanitize.Line(p.Name), "set a variable where toolman is started, and write --header '"+sanitize.Line(p.Name)+"=Bearer ${NAME}'")
		}
	}
	for i := range s.Args {
		if secret := translate.SecretArgument(s.Args[:i+1]); secret != "" && !strings.Contains(secret, "${") {
			return refuse(fmt.Sprintf("argument %d of the command", i+1), "set a variable where toolman is started, and write '${NAME}' in its place")
		}
	}
	if isClear("", s.URL) {
		return refuse("the URL", "set a variable where toolman is started, and write '${NAME}' in its place")
	}
	return nil
}
