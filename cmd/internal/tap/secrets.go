package tap

import (
	"strings"

	"toolman/cmd/internal/config/reference"
)

// secretsOf returns the secrets in an environment and a command: the values of variables, of flags
// and of assignments whose names say so, and the passwords of URLs.
func secretsOf(env, argv []string) []string {
	var r reference.Resolver
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		r.Named(name, value)
	}
	for i, arg := range argv {
		name, value, assigned := strings.Cut(arg, "=")
		if name, isFlag := strings.CutPrefix(name, "-"); isFlag && !assigned && i+1 < len(argv) && !strings.HasPrefix(argv[i+1], "-") {
			r.Named(name, argv[i+1])
		}
		if assigned {
			r.Named(name, value)
		}
		r.Password(arg)
	}
	return r.Secrets()
}
