package spawn

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"toolman/fixtures/process"
)

func TestAChildEndsAtTheEndOfItsInput(t *testing.T) {
	p := run(t, Command{Argv: script("echo")})
	if _, err := p.Stdin().WriteString("hällo\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(p.Stdout()).ReadString('\n'); line != "hällo\n" {
		t.Errorf("got %q, %v", line, err)
	}
	start := time.Now()
	p.Stop(func() { p.Stdin().Close() }, Ladder{AfterEOF: patience, AfterTerm: patience})
	if !p.Succeeded() || time.Since(start) > patience/2 {
		t.Errorf("it ended with %q after %v", p.ExitStatus(), time.Since(start))
	}
}

func TestExitStatus(t *testing.T) {
	p := run(t, Command{Argv: script("exit")})
	p.Stop(func() { p.Stdin().Close() }, Ladder{AfterEOF: patience})
	if got := p.ExitStatus(); got != "exit status 3" || p.Succeeded() {
		t.Errorf("got %q", got)
	}
}

func TestLinesOfStandardError(t *testing.T) {
	var lines []string
	p := run(t, Command{Argv: script("complain"), Stderr: func(line string) { lines = append(lines, line) }})
	if !closedWithin(p.ended, patience) || !slices.Equal(lines, []string{"one", "two", "three"}) {
		t.Errorf("got %q", lines)
	}
	if got := p.StderrTail(); got != "one\ntwo\nthree" {
		t.Errorf("the tail is %q", got)
	}
}

// A wrapper is killed with the server that it has started.
func TestStopKillsAllDescendants(t *testing.T) {
	p := run(t, Command{Argv: script("wrap")})
	server := announced(t, p)
	p.Stop(func() { p.Stdin().Close() }, Ladder{AfterEOF: 10 * time.Millisecond, AfterTerm: 10 * time.Millisecond})
	awaitGone(t, server)
	if !closedWithin(p.ended, patience) {
		t.Error("it has not ended")
	}
}

func TestAServerThatAWrapperLeavesBehindIsKilled(t *testing.T) {
	p := run(t, Command{Argv: script("leave")})
	server := announced(t, p)
	if !closedWithin(p.Done(), patience) {
		t.Fatal("the wrapper has not ended")
	}
	awaitGone(t, server)
}

func TestNothingOutlivesToolman(t *testing.T) {
	for _, verbs := range [][]string{{"gateway", "wrap"}, {"gateway", "escape"}, {"guard"}} {
		t.Run(strings.Join(verbs, " "), func(t *testing.T) { awaitGone(t, orphan(t, verbs...)) })
	}
}

func TestACommandOutlivesToolmanIfItMay(t *testing.T) {
	child := orphan(t, "outlive")
	defer child.Kill()
	awaitGone(t, orphan(t, "guard")) // one that may not
	if !child.Alive() {
		t.Error("it has ended")
	}
}

// orphan kills a process and returns a descendant of it.
func orphan(t *testing.T, verbs ...string) process.ID {
	t.Helper()
	argv := script(verbs...)
	gateway := exec.Command(argv[0], argv[1:]...)
	out, err := gateway.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	server, err := process.Parse(line)
	if err != nil || !server.Alive() {
		t.Errorf("%v does not run: %v", server, err)
	}
	gateway.Process.Kill()
	gateway.Wait()
	return server
}

func TestStartErrorsSayWhatToDo(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "server.py")
	if err := os.WriteFile(text, []byte("print('hello, this is not a program of Windows')\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	batch := filepath.Join(dir, "x.cmd")
	if err := os.WriteFile(batch, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		c    Command
		want string
		is   error
	}{
		{"not in PATH", Command{Argv: []string{"nonesuch"}, Env: os.Environ()}, "not found in its PATH; install it", fs.ErrNotExist},
		{"no such file", Command{Argv: []string{`C:\no such\file`}}, "correct the path", fs.ErrNotExist},
		{"a directory", Command{Argv: []string{dir + `\.`}}, "is a directory", fs.ErrPermission},
		{"a script", Command{Argv: []string{text}}, "python server.py", windows.ERROR_BAD_EXE_FORMAT},
		{"no working directory", Command{Argv: []string{"cmd"}, Dir: dir + `\none`}, "correct cwd", fs.ErrNotExist},
		{"a line break for a batch file", Command{Argv: []string{batch, "a\nb"}}, "line break", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.Name = "server fs"
			p, err := Start(tt.c, nil)
			if err == nil {
				p.Stop(func() { p.Stdin().Close() }, Ladder{})
				t.Fatal("it has started")
			}
			if got := err.Error(); !strings.HasPrefix(got, "server fs: running ") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want it to say %q", got, tt.want)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("got %v, want it to be %v", err, tt.is)
			}
		})
	}
}

// hello writes a batch file that prints a text, and returns its path.
func hello(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("@echo "+text+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestProgramIsFoundAsTheChildWouldFindIt(t *testing.T) {
	dir := t.TempDir()
	hello(t, dir+`\my bin\npx.cmd`, "npx.cmd")
	hello(t, dir+`\my bin\npx`, "the shell script of npm")
	hello(t, dir+`\my bin\npx.ps1`, "the one for PowerShell")
	hello(t, dir+`\bin\tool.v2.bat`, "tool.v2.bat")
	hello(t, dir+`\bin\both.cmd`, "both.cmd")
	hello(t, dir+`\bin\both.bat`, "both.bat")
	for _, tt := range []struct{ name, program, dir, env, want string }{
		{"npx of npm", "npx", "", `PATH=C:\none;` + dir + `\my bin`, "npx.cmd"},
		{"the name of PATH in another case", "npx", "", "Path=" + dir + `\my bin`, "npx.cmd"},
		{"with its extension", "NPX.CMD", "", "PATH=" + dir + `\my bin`, "npx.cmd"},
		{"with a dot in its name", "tool.v2", "", "PATH=" + dir + `\bin`, "tool.v2.bat"},
		{"the order of PATHEXT", "both", "", "PATHEXT=.PY;.CMD;.BAT\x00PATH=" + dir + `\bin`, "both.cmd"},
		{"without PATHEXT", "both", "", "PATH=" + dir + `\bin`, "both.bat"},
		{"by its path", dir + `\my bin\npx`, "", "", "npx.cmd"},
		{"by its path, with slashes", filepath.ToSlash(dir) + `/my bin/npx`, "", "", "npx.cmd"},
		{"relative to its directory", `.\npx`, dir + `\my bin`, "", "npx.cmd"},
		{"PATH relative to its directory", "npx", dir, "PATH=my bin", "npx.cmd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := strings.Split(tt.env, "\x00")
			if got := output(t, Command{Argv: []string{tt.program}, Env: env, Dir: tt.dir}); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestVariablesHaveNoCase(t *testing.T) {
	env := Environ(os.Environ(), []string{"Toolman_Test=a", "TOOLMAN_TEST=b"})
	if got := output(t, Command{Argv: script("env", "toolman_test"), Env: env}); got != "b" {
		t.Errorf("got %q", got)
	}
	if got := Environ([]string{"=C:=C:\\x", "Path=a"}, []string{"PATH=b"}); !slices.Equal(got, []string{"=C:=C:\\x", "PATH=b"}) {
		t.Errorf("got %q", got)
	}
}
