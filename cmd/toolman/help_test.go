package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolman/cmd/internal/cli"
)

// runHelp runs toolman and returns its exit code and what it prints.
func runHelp(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	var files [2]*os.File
	for i, name := range []string{"out", "err"} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	code = run(t.Context(), args, nil, files[0], files[1])
	var texts [2]string
	for i, f := range files {
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	return code, texts[0], texts[1]
}

func TestHelpPrintsEveryPage(t *testing.T) {
	all := topics()
	if len(all) == 0 {
		t.Fatal("there are no topics")
	}
	_, list, _ := runHelp(t, "help")
	for _, topic := range all {
		page, _ := page(topic.name)
		if code, got, stderr := runHelp(t, "help", topic.name); code != cli.ExitOK || !strings.HasSuffix("\n"+got, "\n"+page) {
			t.Errorf("help %s: exit code %d, got %q, %s", topic.name, code, got, stderr)
		}
		if topic.summary == "" || !strings.Contains(list, topic.summary) {
			t.Errorf("help does not list %s with its summary %q", topic.name, topic.summary)
		}
	}
}

func TestHelpPrintsTheHelpOfACommand(t *testing.T) {
	if _, got, _ := runHelp(t, "__complete", "help", ""); !strings.Contains(got, "serve\n") || strings.Count("\n"+got, "\nsearch\n") != 1 {
		t.Errorf("completed is\n%s", got)
	}
	if code, got, _ := runHelp(t, "help", "toolset", "build"); code != cli.ExitOK || !strings.Contains(got, "toolman toolset build") {
		t.Errorf("exit code %d, got %s", code, got)
	}
}

func TestHelpNamesTheNearestTopic(t *testing.T) {
	for word, want := range map[string]string{
		"polices": "did you mean toolman help policies?",
		"chekc":   "did you mean toolman help check?",
		"zzzzzzz": "toolman help lists the commands and topics",
	} {
		code, _, stderr := runHelp(t, "help", word)
		if code != cli.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("help %s: exit code %d, got %s, want %q", word, code, stderr, want)
		}
	}
}
