package translate

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolman/cmd/internal/config/reference"
	"toolman/cmd/internal/config/source"
)

var inProject = Context{OS: "linux", Project: "/src/app", Dir: "/src/app/.x", Home: "/home/me"}

func TestText(t *testing.T) {
	absolute := filepath.Join(t.TempDir(), "token")
	for _, tt := range []struct {
		client, written, want string
	}{
		{"claude-code", "plain $X $(x) %X% {env:X} $$", "plain $X $(x) %X% {env:X} $$"},
		{"claude-code", "a ${X} ${X:-d e}${Y:-}", "a ${X} ${X:-d e}${Y:-}"},
		{"claude-code", "${not a name} ${} ${", "$${not a name} $${} $${"},
		{"copilot-cli", "${X}", "${X}"},
		{"vscode", "${env:PORT}/${env:API_TOKEN}", "${PORT:-}/${API_TOKEN}"},
		{"vscode", "${workspaceFolder}/a ${workspaceFolderBasename}${/}${pathSeparator} ${userHome}", "/src/app/a app// ${HOME}"},
		{"vscode", "${input:api-key}", "${API_KEY}"},
		{"vscode", "${X} $X ${unknown:x}", "$${X} $X $${unknown:x}"},
		{"cursor", "${env:X}${env:Y}", "${X:-}${Y:-}"},
		{"windsurf", "${env:X} ${X} ${file:" + absolute + "} ${file:~/t}", "${X:-} $${X} ${file:" + absolute + "} ${file:~/t}"},
		{"gemini", "$X ${X} ${X:-d} $5 %X%", "${X} ${X} ${X:-d} $5 %X%"},
		{"opencode", "{env:X} {env:API_KEY} {file:./t} {file:~/t} ${X} {X}", "${X:-} ${API_KEY} ${file:" + filepath.FromSlash("/src/app/.x/t") + "} ${file:~/t} $${X} {X}"},
		{"crush", "$X ${X}", "${X} ${X}"},
		{"continue", "${{ secrets.MY_KEY }} ${{X}} ${X}", "${MY_KEY} ${X} $${X}"},
		{"claude-desktop", "${X} $X $${X} {env:X}", "$${X} $X $$${X} {env:X}"},
		{"codex", "${X}", "$${X}"},
		{"goose", "$${", "$$${"},
		{"zed", "${env:X}", "$${env:X}"},
	} {
		got, err := Text(SyntaxOf(tt.client), inProject, tt.written)
		if err != nil || got.Text != tt.want {
			t.Errorf("%s: %s: got %s, %v, want %s", tt.client, tt.written, got.Text, err, tt.want)
		}
	}
	windows := Context{OS: "windows"}
	if got, err := Text(Dollar, windows, "%X% %"); err != nil || got.Text != "${X} %" {
		t.Errorf("got %s, %v", got.Text, err)
	}
	if got, err := Text(Prefixed, windows, "${userHome}"); err != nil || got.Text != "${USERPROFILE}" {
		t.Errorf("got %s, %v", got.Text, err)
	}
	if got, err := Text(Prefixed, inProject, "${input:a.b}"); err != nil || len(got.Inputs) != 1 || got.Inputs[0] != (Input{"A_B", "${input:a.b}"}) {
		t.Errorf("got %v, %v", got.Inputs, err)
	}
}

func TestTextThatToolmanCannotSay(t *testing.T) {
	for _, tt := range []struct{ client, written, want string }{
		{"claude-code", "$${X}", "a $ stands directly before a variable"},
		{"claude-code", "${X:-${Y}", "the default of X holds ${"},
		{"claude-code", "a\x00", "NUL"},
		{"vscode", "${command:x}", "known to the client alone"},
		{"vscode", "${config:a.b}", "known to the client alone"},
		{"vscode", "${env:a b}", "no variable can be called"},
		{"vscode", "${input:--}", "no variable can be called"},
		{"crush", "$(cat x)", "runs a command"},
		{"opencode", "{file:${X}", "the path of a file holds"},
	} {
		if got, err := Text(SyntaxOf(tt.client), inProject, tt.written); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %s: got %q, %v, want %s", tt.client, tt.written, got.Text, err, tt.want)
		}
	}
	if _, err := Text(Prefixed, Context{}, "${workspaceFolder}"); err == nil || !strings.Contains(err.Error(), "another folder in each window") {
		t.Errorf("got %v", err)
	}
}

// expand does what a client does with a text, as its documentation and source say.
func expand(s Syntax, written string, env map[string]string, file string) (text string, unset bool) {
	get := func(name string) string {
		value, ok := env[name]
		unset = unset || !ok
		return value
	}
	orDefault := func(whole, ref string) string {
		name, otherwise, has := strings.Cut(ref, ":-")
		if value, ok := env[name]; ok {
			return value
		}
		if has {
			return otherwise
		}
		if regexp.MustCompile(`^[A-Za-z_]\w*$`).MatchString(name) {
			unset = true
		}
		return whole
	}
	replace := func(pattern string, by func(found []string) string) string {
		re := regexp.MustCompile(pattern)
		return re.ReplaceAllStringFunc(written, func(s string) string { return by(re.FindStringSubmatch(s)) })
	}
	switch s {
	case Braces:
		return replace(`\$\{([^}]+)\}`, func(m []string) string { return orDefault(m[0], m[1]) }), unset
	case Dollar:
		return replace(`\$(?:(\w+)|\{([^}]+)\})`, func(m []string) string { return orDefault(m[0], m[1]+m[2]) }), unset
	case Prefixed:
		return replace(`\$\{env:([^}]+)\}`, func(m []string) string { return get(m[1]) }), unset
	case Curly:
		return replace(`\{(env|file):([^}]+)\}`, func(m []string) string {
			if m[1] == "file" {
				return file
			}
			return get(m[2])
		}), unset
	}
	return written, false
}

// FuzzText holds the translated text, resolved by toolman, against what the client makes of the
// original.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"a ${A} $A {env:A} ${env:A} ${A:-d}", "$${A}", "$$A${", "${env:A", "}${B:-}", "$A$B$", "%A%", "{env:API_KEY}{file:secret}", "${{A}}", "${A:-$}${B}", "${A:-{}", "$5$_"} {
		f.Add(seed, "value ${B} $$")
	}
	dir := f.TempDir()
	path := filepath.Join(dir, "secret")
	if err := os.WriteFile(path, []byte("of ${A} the file"), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, written, value string) {
		if value == "" || strings.ContainsAny(written+value, "\x00") || strings.Contains(written, ":-") && strings.Contains(written, "file:") {
			return
		}
		written = regexp.MustCompile(`\{file:[^}]*\}`).ReplaceAllLiteralString(written, "{file:secret}")
		env := map[string]string{"A": value, "B": "b", "API_KEY": "k"}
		for _, s := range []Syntax{None, Braces, Dollar, Prefixed, Curly} {
			if s == Prefixed && regexp.MustCompile(`\$\{(input|userHome|workspace|cwd|pathSep|/)`).MatchString(written) {
				continue // which the environment says nothing of
			}
			c := Context{OS: "linux", Project: "/p", Dir: dir}
			got, err := Text(s, c, written)
			if err != nil {
				continue
			}
			want, unset := expand(s, written, env, "of ${A} the file")
			p := &source.Problems{}
			sc := reference.Scope{Resolver: &reference.Resolver{Problems: p, Dir: dir, LookupEnv: func(name string) (string, bool) {
				value, ok := env[name]
				return value, ok
			}}, Key: "key"}
			resolved := sc.Expand(got.Text)
			if err := p.Err(); err != nil {
				if !unset || !strings.Contains(err.Error(), "is not set") {
					t.Errorf("%s: %q became %q: %v", s, written, got.Text, err)
				}
				continue
			}
			if resolved != want {
				t.Errorf("%s: %q became %q, which is %q, want %q", s, written, got.Text, resolved, want)
			}
		}
	})
}
