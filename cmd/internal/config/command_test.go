package config

import (
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// loadCommand loads a server with the given command, with files named f and "a b".
func loadCommand(t *testing.T, command string) (Server, error) {
	t.Helper()
	c, err := oneServer(t, fmt.Sprintf("command = %s", tomlString(command)), map[string]string{"f": "f's $(content) *\n", "a b": "spaced"})
	if err != nil {
		return Server{}, err
	}
	return c.Servers[0], nil
}

func tomlString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// inShell are commands that the shell would give the same words for:
// TestASimpleCommandIsWhatTheShellMakesOfIt asks it.
var inShell = []struct {
	name, command string
	want          []string
}{
	{"words", "npx -y server .", []string{"npx", "-y", "server", "."}},
	{"blanks and a comment", "  a\tb   # c 'd", []string{"a", "b"}},
	{"single quotes", `a 'b  $TOKEN \ "c"'`, []string{"a", `b  $TOKEN \ "c"`}},
	{"double quotes", `a "b  'c' \" \\ \$ \x"`, []string{"a", `b  'c' " \ $ \x`}},
	{"quotes within a word", `a b'c d'"e"f`, []string{"a", "bc def"}},
	{"empty words", `a '' ""`, []string{"a", "", ""}},
	{"backslashes", `a b\ c \$TOKEN \* \\ \~ \"`, []string{"a", "b c", "$TOKEN", "*", `\`, "~", `"`}},
	{"a continued line", "a b \\\n c\\\nd \"e\\\nf\"", []string{"a", "b", "cd", "ef"}},
	{"a variable", `a $TOKEN ${TOKEN} x${TOKEN}y`, []string{"a", "token-secret", "token-secret", "xtoken-secrety"}},
	{"a variable in quotes", `a "$SPACES" "<${SPACES}>"`, []string{"a", "a  b; $(c) *", "<a  b; $(c) *>"}},
	{"defaults", `a ${NONE:-d} ${TOKEN:-d} ${EMPTY:-d} "${NONE:-d e}" ${NONE:-"d e"} ${NONE:-'$x'}`,
		[]string{"a", "d", "token-secret", "d", "d e", "d e", "$x"}},
	{"a default that is a reference", `a ${NONE:-$TOKEN} ${NONE:-${NONE:-x}}`, []string{"a", "token-secret", "x"}},
	{"nothing is left of an empty reference", `a ${EMPTY} ${NONE:-} ${NONE:-${EMPTY}} "${EMPTY}" ${NONE:-""} b`, []string{"a", "", "", "b"}},
	{"the home folder", `a ~ ~/x "~" '~' x~ ~/"y z" --d=~/x`, []string{"a", "/home/me", "/home/me/x", "~", "~", "x~", "/home/me/y z", "--d=~/x"}},
	{"braces", `a {b,c} {"d":1}`, []string{"a", "{b,c}", "{d:1}"}},
	{"a trailing semicolon", `a b;`, []string{"a", "b"}},
	{"other alphabets", `a ünï 'c o' 日本`, []string{"a", "ünï", "c o", "日本"}},
}

func TestSimpleCommandsAreExecutedDirectly(t *testing.T) {
	own := []struct {
		name, command string
		want          []string
	}{
		{"a value with blanks and operators stays one word", `a $SPACES x${SPACES}`, []string{"a", "a  b; $(c) *", "xa  b; $(c) *"}},
		{"a default with blanks stays one word", `a ${NONE:-b c}`, []string{"a", "b c"}},
		{"a file", `a ${file:f} "${file:a b}" x${file:a b}y`, []string{"a", "f's $(content) *", "spaced", "xspacedy"}},
		{"a file as a default", `a ${NONE:-${file:f}} ${TOKEN:-${file:missing}}`, []string{"a", "f's $(content) *", "token-secret"}},
		{"a file reference in single quotes is literal", `a '${file:f}' \${file:f}`, []string{"a", "${file:f}", "${file:f}"}},
		{"the program from a variable", `${TOKEN} a`, []string{"token-secret", "a"}},
	}
	for _, tt := range slices.Concat(inShell, own) {
		t.Run(tt.name, func(t *testing.T) {
			s, err := loadCommand(t, tt.command)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(s.Argv, tt.want) {
				t.Errorf("got  %q\nwant %q", s.Argv, tt.want)
			}
		})
	}
}

func TestASimpleCommandIsWhatTheShellMakesOfIt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no /bin/sh to compare with")
	}
	for _, tt := range inShell {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.Command("/bin/sh", "-c", `a() { printf '%s\0' a "$@"; }; npx() { printf '%s\0' npx "$@"; }; `+tt.command)
			cmd.Env = []string{"HOME=/home/me", "TOKEN=token-secret", "EMPTY=", "SPACES=a  b; $(c) *"}
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Join(tt.want, "\x00") + "\x00"; string(out) != want {
				t.Errorf("the shell gives %q, toolman %q", out, want)
			}
		})
	}
}

func TestAssignmentsBeforeACommand(t *testing.T) {
	s, err := loadCommand(t, `A=1 B="x y" C=$A-$B D=$SPACES E= F=~/f server $TOKEN`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"A=1", "B=x y", "C=1-x y", "D=a  b; $(c) *", "E=", "F=/home/me/f"}
	if !slices.Equal(s.Env, want) || !slices.Equal(s.Argv, []string{"server", "token-secret"}) {
		t.Errorf("got %q %q", s.Env, s.Argv)
	}
	s, err = loadCommand(t, `A=1 server $A`)
	if err != nil || len(s.Missing) != 1 || !strings.Contains(s.Missing[0].Msg, "the variable A is not set") {
		t.Errorf("an argument must not see the assignment before its command, as in a shell: got %v, %v", s.Missing, err)
	}
}

func TestOtherCommandsAreLeftToTheShellAsWritten(t *testing.T) {
	for _, command := range []string{
		"a | b", "a && b", "a || b", "a; b", "a\nb", "a &", "a > f", "a 2>&1", "a < f", "a <<E\nx\nE\n", "! a", "(a)", "{ a; }", "a $(b)", "a `b`", "a \"$(b)\"",
		"a *", "a b?c", "a [x]", "a $((1+1))", "a ${x%y}", "a ${x-y}", "a ${x:=y}", "a ${x:?y}", "a ${#x}", "a $1", "a $$", "a \"$@\"", "a ${TOKEN:-*}",
		"a ${TOKEN:-$(b)}", `a "${x:-'y'}"`, `a "${x:-"y"}"`, `a "${x:-\}}"`, "a ~root", "a $'x'", "a ~root/x", "A=$(b) c", "A=*.x c", "A=~/b:~/c d", "if a; then b; fi", "for x in a; do b $x; done",
		"exec a", "cd x", ". x", "export A=1", "f() { a; }; f", "a ${x}${x:-y}; x=1; b $x",
	} {
		t.Run(command, func(t *testing.T) {
			s, err := loadCommand(t, strings.ReplaceAll(command, "${x}", ""))
			if err != nil {
				t.Fatal(err)
			}
			if want := shellArgv(s.Command); !slices.Equal(s.Argv, want) || len(s.Env) > 0 {
				t.Errorf("got %q %q, want %q", s.Env, s.Argv, want)
			}
		})
	}
}

func TestACommandIsBounded(t *testing.T) {
	if _, err := loadCommand(t, "a "+strings.Repeat("b", 32<<10)); err == nil || !strings.Contains(err.Error(), "longer than 32768 bytes") {
		t.Errorf("got %v", err)
	}
}

// shellArgv is how the system's shell runs a text.
func shellArgv(text string) []string {
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/d", "/c", text}
	}
	return []string{"/bin/sh", "-c", text}
}
