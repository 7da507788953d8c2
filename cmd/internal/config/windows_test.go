//go:build windows

package config

import (
	"slices"
	"strings"
	"testing"
)

func TestCommandsOfWindows(t *testing.T) {
	for command, want := range map[string][]string{
		`C:\tools\server.exe --root C:\data`:                {`C:\tools\server.exe`, "--root", `C:\data`},
		`'C:\Program Files\nodejs\npx.cmd' -y "C:\My Data"`: {`C:\Program Files\nodejs\npx.cmd`, "-y", `C:\My Data`},
		`'\\server\share\x.exe'`:                            {`\\server\share\x.exe`},
		`cmd /c npx -y x`:                                   {"cmd", "/c", "npx", "-y", "x"},
		`server | tee C:\log`:                               {"cmd", "/d", "/c", `server | tee C:\log`},
	} {
		s, err := loadCommand(t, command)
		if err != nil || !slices.Equal(s.Argv, want) {
			t.Errorf("%s: got %q, %v, want %q", command, s.Argv, err, want)
		}
	}
}

func TestCmdIsNotAShellOfUnix(t *testing.T) {
	c, err := oneServer(t, `command = "server ${HOME} 'a b' | more"`, nil)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, w := range c.Warnings {
		said = append(said, w.String())
	}
	for _, want := range []string{"write %HOME%", "write double quotes"} {
		if !strings.Contains(strings.Join(said, "\n"), want) {
			t.Errorf("%q does not say %q", said, want)
		}
	}
}
