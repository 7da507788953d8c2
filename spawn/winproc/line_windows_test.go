package winproc

import "testing"

func TestCommandLineOfABatchFile(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, ``},
		{[]string{"-y", "@scope/name@1.2"}, ` -y @scope/name@1.2`},
		{[]string{"", "a b", `C:\x`, `C:\x\`}, ` "" "a b" C:\x "C:\x\\"`},
		{[]string{"a&calc", "a|b", "a^b", "(a)"}, ` "a&calc" "a|b" "a^b" "(a)"`},
		{[]string{`"&calc`, `\"`, `a\\"b`}, ` """&calc" "\\""" "a\\\\""b"`},
		{[]string{"%PATH%", "100%"}, ` "%%cd:~,%PATH%%cd:~,%" "100%%cd:~,%"`},
		{[]string{"größe\u0085"}, " größe\u0085"},
	} {
		got, err := batchLine(`C:/Program Files/nodejs/npx.cmd`, tt.args)
		want := `cmd.exe /e:ON /v:OFF /d /c ""C:\Program Files\nodejs\npx.cmd"` + tt.want + `"`
		if err != nil || got != want {
			t.Errorf("%q:\ngot  %s\nwant %s (%v)", tt.args, got, want, err)
		}
	}
	for _, arg := range []string{"a\nb", "a\rb"} {
		if _, err := batchLine("x.cmd", []string{arg}); err == nil {
			t.Errorf("%q is passed on", arg)
		}
	}
}

func TestCommandLineOfTheShell(t *testing.T) {
	for _, tt := range []struct {
		argv []string
		want string
	}{
		{[]string{"cmd"}, ``},
		{[]string{"cmd", "/c"}, ``},
		{[]string{"cmd", "/c", `"C:\My Dir\x" "a b" | more`}, `cmd /s /c ""C:\My Dir\x" "a b" | more"`},
		{[]string{"cmd.exe", "/d", "/C", `C:\My Dir\npx.cmd`, "-y", "a b"}, `cmd.exe /d /s /C ""C:\My Dir\npx.cmd" -y "a b""`},
		{[]string{"cmd", "/c", "a", "&&", "b"}, `cmd /s /c "a && b"`},
	} {
		if got := shellLine(tt.argv); got != tt.want {
			t.Errorf("%q:\ngot  %s\nwant %s", tt.argv, got, tt.want)
		}
	}
}
