//go:build unix

package spawn

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestStartErrorsSayWhatToDo(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := write("text", "hello", 0o600)
	nonsense := write("nonsense", "hello", 0o700)
	script := write("script", "#!/no/such/interpreter\n", 0o700)
	closed := filepath.Join(dir, "closed") // to all but root
	if err := os.Mkdir(closed, 0); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		c    Command
		want string
		is   error
	}{
		{"no command", Command{}, "the command is empty", nil},
		{"empty command", Command{Argv: []string{""}}, "the command is empty", nil},
		{"not in PATH", Command{Argv: []string{"nonesuch"}, Env: os.Environ()}, "not found in its PATH; install it", fs.ErrNotExist},
		{"not in a PATH that cannot be searched", Command{Argv: []string{"nonesuch"}, Env: []string{"PATH=" + closed}}, "not found in its PATH", fs.ErrNotExist},
		{"no PATH", Command{Argv: []string{"sh"}}, "set PATH in its env", fs.ErrNotExist},
		{"no such file", Command{Argv: []string{"/no/such/file"}}, "correct the path", fs.ErrNotExist},
		{"not executable", Command{Argv: []string{text}}, "chmod +x", fs.ErrPermission},
		{"not executable in PATH", Command{Argv: []string{"text"}, Env: []string{"PATH=/nowhere:" + dir}}, "chmod +x", fs.ErrPermission},
		{"a directory", Command{Argv: []string{dir}}, "is a directory", fs.ErrPermission},
		{"not a program", Command{Argv: []string{nonsense}}, "#!/bin/sh", syscall.ENOEXEC},
		{"no interpreter", Command{Argv: []string{script}}, "the interpreter", syscall.ENOENT},
		{"no working directory", Command{Argv: []string{"/bin/sh"}, Dir: dir + "/none"}, "correct cwd", fs.ErrNotExist},
		{"working directory is a file", Command{Argv: []string{"/bin/sh"}, Dir: text}, "is a file; correct cwd", syscall.ENOTDIR},
		{"NUL in an argument", Command{Argv: []string{"/bin/sh", "a\x00b"}}, "NUL", syscall.EINVAL},
		{"too long", Command{Argv: []string{"/bin/sh", strings.Repeat("x", 4<<20)}}, "too large", syscall.E2BIG},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.Name = "server fs"
			p, err := Start(tt.c, nil)
			if err == nil {
				p.Stop(closer(p), brief)
				t.Fatal("it has started")
			}
			if got := err.Error(); !strings.HasPrefix(got, "server fs: running ") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want it to name the server and to say %q", got, tt.want)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("got %v, want it to be %v", err, tt.is)
			}
		})
	}
}

func TestStartErrorsHoldNoSecrets(t *testing.T) {
	_, err := Start(Command{Name: "x", Argv: []string{"nonesuch", "canary"}, Env: []string{"KEY=canary", "PATH=canary"}}, nil)
	if err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v, want an error without arguments and environment", err)
	}
}

func TestProgramIsFoundAsTheChildWouldFindIt(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"bin/hello", "other/hello"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), []byte("#!/bin/sh\necho "+path+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "bin/sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, program, dir, path, want string }{
		{"in the PATH of its environment", "hello", "", dir + "/bin", "bin/hello"},
		{"first in PATH", "hello", "", dir + "/none:" + dir + "/other:" + dir + "/bin", "other/hello"},
		{"last PATH wins", "hello", "", dir + "/bin\x00PATH=" + dir + "/other", "other/hello"},
		{"relative to its directory", "bin/hello", dir, "", "bin/hello"},
		{"up from its directory", "../other/hello", dir + "/bin", "", "other/hello"},
		{"PATH relative to its directory", "hello", dir, "bin", "bin/hello"},
		{"empty entry of PATH is its directory", "hello", dir + "/other", "/none:", "other/hello"},
		{"directories are not programs", "hello", "", dir + "/bin/sub:" + dir + "/bin", "bin/hello"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := runCommand(t, nil, Command{
				Argv: []string{tt.program},
				Env:  strings.Split("PATH="+tt.path, "\x00"),
				Dir:  tt.dir,
			})
			if got := readLine(t, p); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestEnviron(t *testing.T) {
	for _, tt := range []struct {
		name              string
		base, extra, want []string
	}{
		{"nothing", nil, nil, []string{}},
		{"joined in order", []string{"A=1", "B=2"}, []string{"C=3"}, []string{"A=1", "B=2", "C=3"}},
		{"extra wins in the place of base", []string{"A=1", "B=2"}, []string{"A=3"}, []string{"A=3", "B=2"}},
		{"last wins within base", []string{"A=1", "B=2", "A=3"}, nil, []string{"A=3", "B=2"}},
		{"empty value", []string{"A=1"}, []string{"A="}, []string{"A="}},
		{"value with equal signs", []string{"A=x=y"}, nil, []string{"A=x=y"}},
		{"no entries", []string{"", "A", "="}, nil, []string{}},
		{"a longer key", []string{"A=1", "AB=2"}, nil, []string{"A=1", "AB=2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Environ(tt.base, tt.extra); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
