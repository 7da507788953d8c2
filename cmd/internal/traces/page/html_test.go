package page

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"toolman/cmd/internal/cli"
)

// html runs toolman trace html.
func html(t *testing.T, stdin string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := NewHTML()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetOut(&out)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestHTMLHoldsItsTraces(t *testing.T) {
	hostile := strings.Repeat(line(1)+"\n", 2*pieceBytes/len(line(1))) + `{"t":"event","text":"</script><script>alert(1)</script><!--<script> \u2028 ` + "\u2028\x7f ü 😀 \xff" + ` \" \\ & ]]>"}` + "\r\n" + line(2) + "\n{\"torn"
	dir := t.TempDir()
	path, out := filepath.Join(dir, `<b>.jsonl`), filepath.Join(dir, "out.html")
	if err := os.WriteFile(path, []byte(hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := html(t, line(1)+"\n", path, "-", "-o", out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(out); err != nil || info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		t.Errorf("mode %v: %v", info.Mode(), err)
	}
	found := regexp.MustCompile(`(?s)`+dataFor+`(.*?)</script>`).FindAllSubmatch(text, -1)
	want := [][2]string{{"<b>", strings.ToValidUTF8(hostile, "\ufffd")}, {"standard input", line(1) + "\n"}}
	if len(found) != len(want) {
		t.Fatalf("%d traces, want %d", len(found), len(want))
	}
	for i, f := range found {
		var got struct {
			Name  string
			Lines []string
		}
		if err := json.Unmarshal(f[1], &got); err != nil || got.Name != want[i][0] || strings.Join(got.Lines, "") != want[i][1] {
			t.Errorf("got %q, want %q: %v", got, want[i], err)
		}
		for _, piece := range got.Lines[:len(got.Lines)-1] {
			if !strings.HasSuffix(piece, "\n") || len(piece) > pieceBytes+1000 {
				t.Errorf("a piece of %d bytes ends in %q", len(piece), piece[len(piece)-10:])
			}
		}
		if bytes.ContainsAny(f[1], "<\r\u2028") {
			t.Errorf("not escaped: %q", f[1])
		}
	}
	page := regexp.MustCompile(`(?s)`+dataFor+`.*?</script>\n`).ReplaceAll(text, nil)
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">\n`)
	if got := policy.ReplaceAll(page, nil); !bytes.Equal(got, template) {
		t.Error("beside its traces and its policy, it is not the page")
	}
	m := policy.FindSubmatch(page)
	if m == nil || !strings.HasPrefix(string(m[1]), "default-src 'none'; script-src 'sha256-") || strings.Contains(string(m[1]), "connect-src") {
		t.Errorf("the policy is %q", m)
	}
	if bytes.Index(page, []byte("Content-Security-Policy")) > bytes.Index(page, []byte("<style")) {
		t.Error("the policy comes after what it is for")
	}
}

func TestHTMLReplacesNothingUntilItIsWritten(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out.html")
	os.WriteFile(out, []byte("before"), 0o600)
	if _, err := html(t, "", filepath.Join(dir, "none.jsonl"), "-o", out); err == nil {
		t.Error("a trace that does not exist was written")
	}
	if err := export(t.Context(), []string{filepath.Join(dir, "none.jsonl")}, out, nil, nil); err == nil {
		t.Error("a trace that does not exist was written")
	}
	if text, _ := os.ReadFile(out); string(text) != "before" {
		t.Errorf("out.html is %.100q now", text)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("left: %q", left)
	}
}

func TestHTMLArguments(t *testing.T) {
	for _, args := range [][]string{{}, {"a.jsonl"}, {"-o", "x.html"}, {"--last", "a.jsonl", "-o", "x.html"}} {
		if _, err := html(t, "", args...); cli.Code(err) != cli.ExitUsage || cli.Hint(err) == "" {
			t.Errorf("%q: %v (hint: %q)", args, err, cli.Hint(err))
		}
	}
	if out, err := html(t, line(1), "-", "-o", "-"); err != nil || !strings.Contains(out, `\"seq\":1`) {
		t.Errorf("-o -: %v", err)
	}
}

// A trace of any size is in memory a piece at a time.
func TestHTMLNeedsLittleMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	text := line(1) + "\n" + `{"msg":"` + strings.Repeat("<", 32<<20) + `"}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := writePage(t.Context(), io.Discard, []string{path}, nil); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
		t.Errorf("writing %d bytes allocated %d", len(text), n)
	}
}

func TestHTMLDoesNotReplaceItsTrace(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(trace, []byte(line(1)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := export(t.Context(), []string{trace}, trace, nil, nil)
	if text, _ := os.ReadFile(trace); err == nil || string(text) != line(1)+"\n" {
		t.Errorf("%v; the trace has %d bytes", err, len(text))
	}
}
