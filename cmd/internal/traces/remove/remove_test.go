package remove_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/remove"
	"toolman/jsonrpc/trace"
)

// run runs the command, and returns what it prints on standard error, or its error and hint.
func run(t *testing.T, stdin string, args ...string) (said string, code int) {
	t.Helper()
	var out, problems bytes.Buffer
	cmd := remove.New()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetOut(&out)
	cmd.SetErr(&problems)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		return err.Error() + "\n" + cli.Hint(err), cli.Code(err)
	}
	return problems.String() + out.String(), cli.ExitOK
}

// redacted returns a trace of these lines after the command.
func redacted(t *testing.T, lines string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "out.jsonl")
	if err := os.WriteFile(in, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	if said, code := run(t, "", append([]string{in, "-o", out}, args...)...); code != 0 {
		t.Fatal(said)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(out); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, err := range trace.Read(bytes.NewReader(text)) {
		if err != nil {
			t.Errorf("%v in %s", err, text)
		}
	}
	return strings.TrimSuffix(string(text), "\n")
}

func frame(method, msg string) string {
	return `{"v":1,"seq":12,"t":"frame","us":12,"kind":"request","method":"` + method + `","msg":` + msg + `}`
}

func TestKeysAndPaths(t *testing.T) {
	const msg = `{"id":12,"params":{"name":"x","arguments":{"body":{"a":[1,2]},"list":[{"t":"a"},{"t":"b"}],"a key":1, "json":"{\"body\":[{\"t\":1}],\"n\":2}"}}}`
	for _, tt := range []struct {
		name    string
		args    []string
		removed []string // parts of msg
		by      []string // what is in their place
		where   string
	}{
		{"a key", []string{"--key", "body"}, []string{`{"a":[1,2]}`, `[{\"t\":1}]`}, []string{`"[redacted]"`, `\"[redacted]\"`}, `"msg.params.arguments.body","msg.params.arguments.json"`},
		{"keys by a pattern", []string{"--key", "A*y"}, []string{`"a key":1`}, []string{`"a key":"[redacted]"`}, `"msg.params.arguments[\"a key\"]"`},
		{"a path", []string{"--path", "params.arguments.body.a[1]"}, []string{`[1,2]`}, []string{`[1,"[redacted]"]`}, `"msg.params.arguments.body.a[1]"`},
		{"a path with the name of the field", []string{"--path", "msg.params.name"}, []string{`"x"`}, []string{`"[redacted]"`}, `"msg.params.name"`},
		{"all elements", []string{"--path", "params.arguments.list[*].t"}, []string{`"t":"a"`, `"t":"b"`}, []string{`"t":"[redacted]"`, `"t":"[redacted]"`}, `"msg.params.arguments.list[0].t","msg.params.arguments.list[1].t"`},
		{"all members", []string{"--path", `params.*["a key"]`}, []string{`"a key":1`}, []string{`"a key":"[redacted]"`}, `"msg.params.arguments[\"a key\"]"`},
		{"a path in JSON in a string", []string{"--path", "params.arguments.json.body[0].t"}, []string{`\"t\":1`}, []string{`\"t\":\"[redacted]\"`}, `"msg.params.arguments.json"`},
		{"a path of a method", []string{"--path", "tools/*:params.name"}, []string{`"x"`}, []string{`"[redacted]"`}, `"msg.params.name"`},
		{"a path of another method", []string{"--path", "prompts/get:params.name"}, nil, nil, ""},
		{"nothing is there", []string{"--path", "params.none[3]", "--key", "none"}, nil, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := msg
			for i, part := range tt.removed {
				want = strings.Replace(want, part, tt.by[i], 1)
			}
			want = frame("tools/call", want)
			if tt.where != "" {
				want = strings.TrimSuffix(want, "}") + `,"redacted":[` + tt.where + "]}"
			}
			if got := redacted(t, frame("tools/call", msg), tt.args...); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A value is gone in all forms in which package redact finds it, in all fields.
func TestAValueIsGoneInEveryForm(t *testing.T) {
	const value = `Zq9 <é>/"Wk`
	quote := func(s string) string { text, _ := json.Marshal(s); return string(text) }
	inner := func(s string) string { s = quote(s); return s[1 : len(s)-1] }
	escaped := ""
	for _, r := range value {
		escaped += `\u` + strconv.FormatInt(0x10000+int64(r), 16)[1:]
	}
	forms := map[string]string{
		"as it is": value, "JSON": inner(value), "JSON in JSON": inner(inner(value)), "four times": inner(inner(inner(value))),
		"escapes": escaped, "Go": strconv.Quote(value), "URL": url.QueryEscape(value), "path": url.PathEscape(value), "HTML": html.EscapeString(value),
		"base64": base64.StdEncoding.EncodeToString([]byte(value)), "base64 for URLs": base64.URLEncoding.EncodeToString([]byte("a" + value)),
		"base64 of more": base64.StdEncoding.EncodeToString([]byte("user:" + value + "!")), "hex": hex.EncodeToString([]byte(value)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(value))),
	}
	var in bytes.Buffer
	w := trace.NewWriter(&in, trace.Options{Session: trace.Session{Config: "/" + value, Upstreams: []trace.Server{{Name: "a", Command: "run " + value}}}, MaxMsg: 2000})
	n := 0
	for _, text := range forms {
		w.Frame(&trace.Frame{Msg: []byte(`{"a":` + quote("before "+text+" after") + `,` + quote(text) + `:1}`)})
		w.Frame(&trace.Frame{Msg: []byte("no JSON: " + text)})
		w.Frame(&trace.Frame{Msg: []byte("no UTF-8: \xff " + text)})
		w.Event(trace.Event{Event: trace.EventStderr, Text: "said " + text})
		n += 5
	}
	w.Frame(&trace.Frame{Peer: value, Method: value, Name: value, ID: []byte(quote(value)), Rule: value, Rewrote: []string{value}, Msg: []byte(`1`)})
	w.Frame(&trace.Frame{Msg: []byte(strings.Repeat("x", 1995) + value)}) // cut
	if err := w.Close(time.Minute); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "value")
	if err := os.WriteFile(file, []byte(value+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := redacted(t, in.String(), "--value-file", file)
	for name, text := range forms {
		text = strings.Trim(text, `"=`)
		if len(text) > 8 {
			text = text[4 : len(text)-4] // of the base64 of more, the edges stay
		}
		if strings.Contains(got, text) || strings.Contains(got, inner(text)) {
			t.Errorf("%s is there: %s", name, got)
		}
	}
	for _, part := range []string{"Zq9", "Wk", hex.EncodeToString([]byte("Zq9")), "5a71", "5A71"} {
		if strings.Contains(got, part) {
			t.Errorf("%s is there", part)
		}
	}
	if strings.Count(got, "[redacted]") < n {
		t.Errorf("only %d places", strings.Count(got, "[redacted]"))
	}
	for rec := range trace.Read(strings.NewReader(got)) {
		if strings.Contains(string(rec.Raw), "Zq9") || len(rec.Redacted) == 0 {
			t.Errorf("%s", rec.Line)
		}
	}
}

func TestWhatIsOfTheTraceItselfStays(t *testing.T) {
	const in = `{"v":1,"seq":1234,"t":"frame","us":1234,"leg":"client","dir":"in","kind":"request","call":"c1234","bytes":1234,"future":{"a":1234},"msg":{"id":1234}}`
	const want = `{"v":1,"seq":1234,"t":"frame","us":1234,"leg":"client","dir":"in","kind":"request","call":"c1234","bytes":1234,"future":{"a":"[redacted]"},"msg":{"id":"[redacted]"},"redacted":["future.a","msg.id"]}`
	if got := redacted(t, in, "--value", "1234"); got != want {
		t.Errorf("got %s", got)
	}
}

func TestEarlierPathsStay(t *testing.T) {
	for in, want := range map[string]string{`true`: `["","msg.b"]`, `["msg.a","text"]`: `["msg.a","text","msg.b"]`} {
		got := redacted(t, `{"t":"frame","redacted":`+in+`,"msg":{"a":"[redacted]","b":"c"}}`, "--key", "b")
		if !strings.HasSuffix(got, `"redacted":`+want+"}") {
			t.Errorf("got %s", got)
		}
	}
	if got := redacted(t, `{"t":"event","text":"[redacted] and hunter22","redacted":["text"]}`, "--value", "hunter22"); got != `{"t":"event","text":"[redacted] and [redacted]","redacted":["text"]}` {
		t.Errorf("got %s", got)
	}
}

// A path cannot be followed in a message that was cut, so all of it goes.
func TestAMessageInPart(t *testing.T) {
	in := `{"t":"frame","method":"tools/call","trunc":true,"text":"{\"params\":{\"a\":\"b"}` + "\n" + `{"t":"frame","method":"ping","trunc":true,"text":"{\"params\":{\"k\":{\"b\":1"}`
	got := redacted(t, in, "--path", "tools/call:params.a", "--key", "k")
	want := `{"t":"frame","method":"tools/call","trunc":true,"text":"[redacted]","redacted":["text"]}` + "\n" +
		`{"t":"frame","method":"ping","trunc":true,"text":"{\"params\":{\"k\":\"[redacted]\"","redacted":["text"]}`
	if got != want {
		t.Errorf("got %s", got)
	}
}

func TestTheReportCountsAndLinesThatAreNoRecordsAreLeftOut(t *testing.T) {
	in := frame("m", `{"a":{"b":1},"c":"hunter22"}`) + "\nhunter22\n" + frame("m", `1`) + "\n{\"t\":\"fr"
	const want = "toolman: other users and the shell's history can see --value; --value-file reads it from a file\n" +
		"toolman: 1 of 2 lines changed\n     1  --key c\n     0  --key none\n     1  --path a.b\n     0  by value\n     2  lines that are no trace records, and were left out\n"
	said, code := run(t, in, "-", "-o", "-", "--key", "c", "--key", "none", "--path", "a.b", "--value", "hunter22")
	if code != 0 || !strings.HasPrefix(said, want) || strings.Contains(said, "hunter") {
		t.Errorf("exit %d: %s", code, said)
	}
}

func TestInPlaceAndTheFileItself(t *testing.T) {
	dir := t.TempDir()
	file, link, value := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "link"), filepath.Join(dir, "value")
	os.WriteFile(file, []byte(frame("m", `{"a":"hunter22"}`)+"\n"), 0o644)
	os.WriteFile(value, []byte("hunter22\r\n"), 0o600)
	if err := os.Symlink(file, link); err != nil {
		t.Log(err) // Windows
		link = file
	}
	if said, code := run(t, "", file, "-o", link, "--key", "a"); code != cli.ExitUsage || !strings.Contains(said, "--in-place") {
		t.Errorf("exit %d: %s", code, said)
	}
	if said, code := run(t, "", link, "--in-place", "--value-file", value); code != 0 || !strings.Contains(said, "1 of 1 line changed") {
		t.Errorf("exit %d: %s", code, said)
	}
	text, err := os.ReadFile(file)
	if info, _ := os.Stat(file); err != nil || strings.Contains(string(text), "hunter") || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("%v %s", err, text)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".toolman-*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

func TestWrongUse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.jsonl")
	os.WriteFile(file, []byte(frame("m", `1`)+"\n"), 0o600)
	out := file + ".out"
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "one trace"},
		{[]string{file, file, "-o", out}, "one trace"},
		{[]string{file, "--key", "a"}, "-o OUT"},
		{[]string{file, "-o", out, "--in-place", "--key", "a"}, "exclude"},
		{[]string{file, "-o", out}, "nothing is to be removed"},
		{[]string{"-", "--in-place", "--key", "a"}, "standard input"},
		{[]string{"-", "-o", out, "--value-file", "-"}, "both"},
		{[]string{file, "-o", out, "--value", "x"}, "too short"},
		{[]string{file, "-o", out, "--value", "true"}, "too short or too common"},
		{[]string{file, "-o", out, "--key", ""}, "--key is empty"},
		{[]string{file, "-o", out, "--path", "a..b"}, "a key is missing"},
		{[]string{file, "-o", out, "--path", "a[x]"}, "not a number or *"},
		{[]string{file, "-o", out, "--path", `a["b]`}, "not a key in quotes"},
		{[]string{file, "-o", out, "--path", `a["b"]c`}, "a . or [ is missing"},
		{[]string{file, "-o", out, "--path", "tools/call:"}, "it is empty"},
	} {
		if said, code := run(t, "", tt.args...); code != cli.ExitUsage || !strings.Contains(said, tt.want) {
			t.Errorf("%q: exit %d: %s, want %q", tt.args, code, said, tt.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%q has made a file", tt.args)
		}
	}
	if said, code := run(t, "", file, "-o", filepath.Join(file, "none"), "--key", "a"); code != cli.ExitFailed {
		t.Errorf("exit %d: %s", code, said)
	}
}
