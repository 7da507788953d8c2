package demo

import (
	"slices"
	"testing"

	"toolman/cmd/internal/config"
)

func TestConfigRunsTheProgramWhateverItsPath(t *testing.T) {
	for _, program := range []string{
		"/usr/local/bin/toolman",
		"/home/j doe/bin/toolman",
		`C:\Program Files\toolman\toolman.exe`,
		`/it's/"quoted"/$HOME/${HOME}/~/*?&|;<>()#`,
		"/büro/toolman",
	} {
		t.Run(program, func(t *testing.T) {
			path, err := WriteConfig(t.TempDir(), program)
			if err != nil {
				t.Fatal(err)
			}
			c, err := config.Load(path, config.Options{LookupEnv: func(string) (string, bool) { return "", false }})
			if err != nil {
				t.Fatal(err)
			}
			for i, name := range []string{"notes", "calc"} {
				s := c.Servers[i]
				if want := []string{program, "__demo-server", name}; s.Namespace != name || !slices.Equal(s.Argv, want) {
					t.Errorf("server %d is %q, run by %q; want %q", i, s.Namespace, s.Argv, want)
				}
			}
		})
	}
}
