package traces_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolman/cmd/internal/cli"
)

// In the trace of a tap there is no toolman: calls are between the client and the server, have no
// time of toolman, and are over when the server is.
func TestTheTraceOfATap(t *testing.T) {
	const text = `{"v":1,"seq":0,"t":"session","ts":"2026-11-23T10:00:00.000000Z","us":0,"run":"abcdef","tap":"files"}
{"v":1,"seq":1,"t":"frame","ts":"2026-11-23T10:00:00.001000Z","us":1000,"leg":"client","peer":"me","dir":"in","kind":"request","method":"tools/call","name":"add","id":1,"call":"c1","bytes":20,"msg":{}}
{"v":1,"seq":2,"t":"frame","ts":"2026-11-23T10:00:00.002000Z","us":2000,"leg":"client","peer":"me","dir":"out","kind":"request","method":"ping","id":1,"call":"c2","bytes":20,"msg":{}}
{"v":1,"seq":3,"t":"frame","ts":"2026-11-23T10:00:00.003000Z","us":3000,"leg":"client","peer":"me","dir":"in","kind":"response","method":"ping","id":1,"call":"c2","status":"ok","total_us":1000,"bytes":20,"msg":{}}
{"v":1,"seq":4,"t":"frame","ts":"2026-11-23T10:00:00.004000Z","us":4000,"leg":"client","peer":"me","dir":"out","kind":"response","method":"tools/call","name":"add","id":1,"call":"c1","status":"ok","total_us":3000,"bytes":20,"msg":{}}
{"v":1,"seq":5,"t":"frame","ts":"2026-11-23T10:00:00.005000Z","us":5000,"leg":"client","peer":"me","dir":"out","kind":"notification","method":"notifications/tools/list_changed","bytes":20,"msg":{}}
{"v":1,"seq":6,"t":"frame","ts":"2026-11-23T10:00:00.006000Z","us":6000,"leg":"client","peer":"me","dir":"in","kind":"request","method":"tools/call","name":"slow","id":2,"call":"c3","bytes":20,"msg":{}}
{"v":1,"seq":7,"t":"event","ts":"2026-11-23T10:00:00.007000Z","us":7000,"peer":"files","event":"drop","text":"2 parts of the streams are missing here"}
{"v":1,"seq":8,"t":"event","ts":"2026-11-23T10:00:00.008000Z","us":8000,"peer":"files","event":"exit","text":"killed by SIGSEGV"}
{"v":1,"seq":9,"t":"event","ts":"2026-11-23T10:00:00.009000Z","us":9000,"event":"note","text":"made by hand"}
`
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, code := run(t, path)
	for _, want := range []string{
		`1 +\+0.001  me -> files +tools/call add +ok +3.00ms +>20B`, // and no time of toolman
		`2 +\+0.002  files -> me +ping +ok +1.00ms +>20B`,
		`files -> me +notifications/tools/list_changed`,
		`3 +\+0.006  me -> files +tools/call slow +gone +2.00ms`,
		`! killed by SIGSEGV`,
		`files +drop: 2 parts of the streams`,
		`files +exit: killed by SIGSEGV`,
		`\+0.009  files +note: made by hand`, // not of toolman
	} {
		if !regexp.MustCompile(want).MatchString(got) || code != cli.ExitOK {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got, _ := run(t, path, "--frames", "-v"); !strings.Contains(got, "| total 3.00ms | 20B") || strings.Contains(got, "own") || !strings.Contains(got, "files  - note: made by hand") {
		t.Error(got)
	}
	if got, _ := run(t, path, "--stats"); !regexp.MustCompile(`ping \(by the server\) +1 .*\n`).MatchString(got) || !regexp.MustCompile(`add +1 +0 +0 +3.00ms +3.00ms +3.00ms +- `).MatchString(got) {
		t.Error(got)
	}
}
