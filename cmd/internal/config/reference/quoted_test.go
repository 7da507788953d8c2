package reference

import (
	"runtime"
	"strings"
	"testing"

	"toolman/cmd/internal/config/source"
)

func TestReferencesInSingleQuotesAreWarnedOf(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{`node -e 'console.error(process.argv[1])' '${DATABASE_URL:-postgresql://localhost/postgres}'`, "DATABASE_URL"},
		{`server 'a ${A} b' --url='${B}' | tee '${C}'`, "A B C"},
		{`KEY='${A}' server`, "A"},
		{`server '${file:secret}'`, "file:…"},
		{`server '${env:A}'`, "A"},
		{`server "${A}" ${A} "it's ${A}" '$A' '${' '{A}' \${A} "\${A}"`, ""},
		{`bash -c 'for A in 1 2; do echo ${A}; done'`, ""},
		{`bash -lc 'echo ${A}' && node -e 'x(` + "`${A}`" + `)'`, ""},
	} {
		if runtime.GOOS == "windows" && strings.ContainsAny(tt.command, "|&") {
			continue // it is a command for cmd
		}
		p := &source.Problems{File: "tools.toml"}
		sc := Scope{Resolver: &Resolver{Problems: p, LookupEnv: func(string) (string, bool) { return "v", true }}, Line: 7, Key: "command", Inherits: func(string) bool { return true }}
		sc.Command(tt.command)
		var names []string
		for _, w := range p.Warnings() {
			name, _, _ := strings.Cut(strings.TrimPrefix(w.String(), "tools.toml:7: command: ${"), "}")
			names = append(names, name)
			if !strings.HasSuffix(w.String(), "stands in single quotes, where nothing is replaced; write \\\"${"+name+"}\\\", in double quotes; a literal ${ is also \\\\${ without quotes") {
				t.Errorf("%s: %s", tt.command, w)
			}
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s: warned of %q, want %q", tt.command, got, tt.want)
		}
	}
}
