package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/files"
)

// state makes an empty state directory and returns the directory of its traces.
func state(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	return filepath.Join(dir, "toolman", "traces")
}

// stored makes a trace of that age that nobody writes.
func stored(t *testing.T, dir, name, text string, age time.Duration) {
	t.Helper()
	path := filepath.Join(dir, name)
	err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, []byte(text), 0o600),
		os.Chtimes(path, time.Time{}, time.Now().Add(-age)))
	if err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T) []files.Trace {
	t.Helper()
	all, err := files.List()
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i].Examine()
	}
	return all
}

func TestCreateMakesAPrivateFileThatSaysWhatItIs(t *testing.T) {
	dir := state(t)
	before := time.Now().Add(-time.Millisecond)
	f, err := files.Create("k3f9q2", "@scope/ server\n.")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	folder, err2 := os.Stat(dir)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && (info.Mode().Perm() != 0o600 || folder.Mode().Perm() != 0o700) {
		t.Errorf("file %v, directory %v", info.Mode(), folder.Mode())
	}
	all := list(t)
	if len(all) != 1 || all[0].Run != "k3f9q2" || all[0].What != "scope--server" || all[0].Started.Before(before) || !all[0].Live {
		t.Fatalf("%+v", all)
	}
	f.Close()
	if list(t)[0].Live {
		t.Error("live after its writer has closed it")
	}
}

func TestListCountsCalls(t *testing.T) {
	dir := state(t)
	const request = `{"v":1,"seq":1,"t":"frame","leg":"client","peer":"c","dir":"in","kind":"request","id":1,"msg":{}}` + "\n"
	const upstream = `{"v":1,"seq":2,"t":"frame","leg":"upstream","peer":"c","dir":"out","kind":"request","id":1,"msg":{"x":",\"leg\":\"client\",\"dir\":\"in\",\"kind\":\"request\""}}` + "\n"
	long := strings.Replace(request, "{}", `"`+strings.Repeat("x", 100_000)+`"`, 1)
	stored(t, dir, "20261123-215639.482-aaaaaa-one.jsonl", request+upstream+long+request, 0)
	stored(t, dir, "20261122-215639.482-bbbbbb-large.jsonl", strings.Repeat(long, 90), 0)
	stored(t, dir, "notes.jsonl", request, 0)
	all := list(t)
	if len(all) != 2 || all[0].Run != "bbbbbb" || all[0].Calls != nil || all[1].Calls == nil || *all[1].Calls != 3 {
		t.Errorf("%+v", all)
	}
}

func TestResolve(t *testing.T) {
	dir := state(t)
	if _, err := files.Resolve("", true); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(cli.Hint(err), "--trace auto") {
		t.Errorf("no traces: %v", err)
	}
	const first, second, third = "20261121-100000.000-abcdef-fs.jsonl", "20261122-100000.000-abxyzz-fs.jsonl", "20261122-110000.000-q2-mem.jsonl"
	for _, name := range []string{second, third, first} {
		stored(t, dir, name, "", 0)
	}
	stored(t, dir, "20261122-120000.000-q2w-mem.jsonl", "", 0)
	t.Chdir(t.TempDir())
	stored(t, ".", "abx", "", 0)
	for _, tt := range []struct{ arg, path, problem string }{
		{"-", "-", ""},
		{"abx", "abx", ""}, // a file here comes first
		{"abcdef", filepath.Join(dir, first), ""},
		{"abxy", filepath.Join(dir, second), ""},
		{second, filepath.Join(dir, second), ""},
		{"20261121", filepath.Join(dir, first), ""},
		{"q2", filepath.Join(dir, third), ""}, // all of one run, and the start of another
		{"ab", "", "2 traces"},
		{"abcdfe", "", "did you mean abcdef?"},
		{"none.jsonl", "", "toolman --trace none.jsonl"},
		{"./abcdef", "", "trace list"},
		{"zzzzzzzzz", "", "trace list"},
	} {
		path, err := files.Resolve(tt.arg, false)
		if path != tt.path || tt.problem == "" && err != nil || tt.problem != "" && (err == nil || !strings.Contains(err.Error()+cli.Hint(err), tt.problem)) {
			t.Errorf("%q: %q, %v (%s)", tt.arg, path, err, cli.Hint(err))
		}
	}
	if path, err := files.Resolve("", true); err != nil || filepath.Base(path) != "20261122-120000.000-q2w-mem.jsonl" {
		t.Errorf("the newest: %s, %v", path, err)
	}
}

func TestPrune(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		limit files.Limit
		gone  []string
	}{
		{files.Limit{Keep: 2}, []string{"a", "b"}},
		{files.Limit{Older: 2 * day}, []string{"a", "c"}}, // b began early, and was written lately
		{files.Limit{Keep: 2, Older: 2 * day}, []string{"a"}},
		{files.Limit{Keep: 9}, nil},
		{files.Limit{}, []string{"a", "b", "c"}},
	} {
		dir := state(t)
		stored(t, dir, "20200101-000000.000-a-x.jsonl", "1234", 4*day)
		stored(t, dir, "20200102-000000.000-b-x.jsonl", "", day)
		stored(t, dir, "20200103-000000.000-c-x.jsonl", "", 3*day)
		stored(t, dir, "mine.txt", "", 9*day)
		f, err := files.Create("d", "x")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, dry := range []bool{true, false} {
			removed, live, err := files.Prune(tt.limit, dry)
			var gone []string
			for _, r := range removed {
				gone = append(gone, r.Run)
			}
			if err != nil || !slices.Equal(gone, tt.gone) || len(live) > 1 {
				t.Errorf("%+v: removed %v, live %v, %v; want %v", tt.limit, gone, live, err, tt.gone)
			}
			if left := len(list(t)); dry && left != 4 || !dry && left != 4-len(gone) {
				t.Errorf("%+v, dry %v: %d are left", tt.limit, dry, left)
			}
		}
		if _, err := os.Stat(f.Name()); err != nil {
			t.Errorf("%+v removed the one that is written: %v", tt.limit, err)
		}
	}
}
