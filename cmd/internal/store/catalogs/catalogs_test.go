package catalogs

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"toolman/mcpwire"
	"toolman/router/recall"
)

func offered(t *testing.T, tools ...string) *recall.Offered {
	t.Helper()
	o := &recall.Offered{Result: mcpwire.InitializeResult{ProtocolVersion: mcpwire.Latest}}
	for _, name := range tools {
		page, err := mcpwire.ParsePage(mcpwire.Tool, fmt.Appendf(nil, `{"tools":[{"name":%q}]}`, name))
		if err != nil {
			t.Fatal(err)
		}
		o.Lists[mcpwire.Tool] = append(o.Lists[mcpwire.Tool], page.Items...)
	}
	return o
}

// names are the tools of what is recalled, with spaces; "-" if nothing is.
func names(o *recall.Offered) string {
	if o == nil {
		return "-"
	}
	var all []string
	for _, item := range o.Lists[mcpwire.Tool] {
		all = append(all, item.Name)
	}
	return strings.Join(all, " ")
}

// folder is an empty folder, and a clock that set sets.
func folder(t *testing.T) (f *Folder, later func(time.Duration)) {
	f = At(filepath.Join(t.TempDir(), "toolman", "catalog"))
	now := time.Now()
	f.now = func() time.Time { return now }
	return f, func(d time.Duration) { now = now.Add(d) }
}

func remember(t *testing.T, f *Folder, start, client string, tools ...string) {
	t.Helper()
	m := f.Memory(Server{Name: "server " + start, Config: "tools.toml", Start: func() string { return start }})
	if err := m.Remember(recall.Client{Key: client, Name: client}, offered(t, tools...)); err != nil {
		t.Fatal(err)
	}
}

func recalled(f *Folder, start, client string) string {
	return names(f.Memory(Server{Start: func() string { return start }}).Recall(client))
}

func TestEachServerAndEachKindOfClientHasAFile(t *testing.T) {
	f, _ := folder(t)
	if got := recalled(f, "a", ""); got != "-" {
		t.Errorf("without a folder: %s", got)
	}
	remember(t, f, "a", "aa", "one")
	remember(t, f, "b", "aa", "other")
	if all, _ := f.files(""); len(all) != 2 {
		t.Fatalf("there are %v", all)
	}
	old := time.Now().Add(-time.Hour)
	all, _ := f.files("")
	for _, one := range all {
		os.Chtimes(filepath.Join(f.path, one.name), old, old)
	}
	remember(t, f, "a", "bb", "two")
	for client, want := range map[string]string{"aa": "one", "bb": "two", "cc": "two", "": "two"} {
		if got := recalled(f, "a", client); got != want {
			t.Errorf("for the client %q: %s, want %s", client, got, want)
		}
	}
	if got := recalled(f, "c", "aa"); got != "-" {
		t.Errorf("of a server that is not known: %s", got)
	}
}

// Another project has files of its own; until then it gets what the server offered elsewhere.
func TestEachWorkingDirectoryHasAFile(t *testing.T) {
	f, _ := folder(t)
	in := func(dir string) recall.Memory {
		return f.Memory(Server{Name: "s", Start: func() string { return "s" }, Dir: dir})
	}
	if err := in("/p").Remember(recall.Client{Key: "c"}, offered(t, "one")); err != nil {
		t.Fatal(err)
	}
	if got := names(in("/q").Recall("c")); got != "one" {
		t.Errorf("in another directory: %s", got)
	}
	if err := in("/q").Remember(recall.Client{Key: "d"}, offered(t, "two")); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{"/p": "one", "/q": "two"} {
		for _, client := range []string{"c", "d", "e", ""} {
			if got := names(in(dir).Recall(client)); got != want {
				t.Errorf("in %s for the client %q: %s, want %s", dir, client, got, want)
			}
		}
	}
}

func TestAFileIsWrittenOnlyWhenSomethingHasChanged(t *testing.T) {
	f, later := folder(t)
	remember(t, f, "a", "c", "one")
	path := func() (string, os.FileInfo) {
		all, _ := f.files("")
		info, err := os.Stat(filepath.Join(f.path, all[0].name))
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Join(f.path, all[0].name), info
	}
	_, first := path()
	remember(t, f, "a", "c", "one")
	name, second := path()
	if !os.SameFile(first, second) || !first.ModTime().Equal(second.ModTime()) {
		t.Error("the same was written again")
	}
	later(25 * time.Hour)
	remember(t, f, "a", "c", "one")
	if _, third := path(); !os.SameFile(first, third) || third.ModTime().Equal(second.ModTime()) {
		t.Error("after a day the time of the file was not set")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-9] ^= 1
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := recalled(f, "a", "c"); got != "-" {
		t.Errorf("of a damaged file: %s", got)
	}
	remember(t, f, "a", "c", "one")
	if got := recalled(f, "a", "c"); got != "one" {
		t.Errorf("a damaged file was not replaced: %s", got)
	}
}

func TestTheCacheHasBounds(t *testing.T) {
	f, _ := folder(t)
	remember(t, f, "old", "c", "one")
	olds, _ := f.files("")
	long := f.now().Add(-maxAge - time.Hour)
	os.Chtimes(filepath.Join(f.path, olds[0].name), long, long)
	if got := recalled(f, "old", "c"); got != "-" {
		t.Errorf("after %v: %s", maxAge, got)
	}
	remember(t, f, "new", "c", "one")
	if all, _ := f.files(""); len(all) != 1 {
		t.Errorf("the old file was not removed: %v", all)
	}
	killed := filepath.Join(f.path, tempMark+"1")
	if err := os.WriteFile(killed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	hour := f.now().Add(-2 * time.Hour)
	os.Chtimes(killed, hour, hour)
	base := f.now()
	for i := range maxFiles + 10 {
		name := filepath.Join(f.path, fmt.Sprintf("%032d.c%s", i, suffix))
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		os.Chtimes(name, base, base.Add(-time.Duration(i)*time.Minute))
	}
	remember(t, f, "newest", "c", "one")
	if all, _ := f.files(""); len(all) != maxFiles {
		t.Errorf("there are %d files", len(all))
	}
	if _, err := os.Stat(killed); err == nil {
		t.Error("what a killed process has left is still there")
	}
	all, _ := f.files("")
	if err := os.Truncate(filepath.Join(f.path, all[len(all)-1].name), maxTotal); err != nil {
		t.Fatal(err)
	}
	remember(t, f, "newest", "c", "two")
	total := int64(0)
	all, _ = f.files("")
	for _, one := range all {
		total += one.size
	}
	if total > maxTotal {
		t.Errorf("the files have %d bytes", total)
	}
}

func TestAFolderThatOthersMayChangeIsNotUsed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED on windows: modes say nothing there")
	}
	f, _ := folder(t)
	remember(t, f, "a", "c", "one")
	if err := os.Chmod(f.path, 0o777); err != nil {
		t.Fatal(err)
	}
	if got := recalled(f, "a", "c"); got != "-" {
		t.Errorf("recalled %s", got)
	}
	if _, err := f.Entries(); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("got %v", err)
	}
	if err := os.Chmod(f.path, 0o700); err != nil {
		t.Fatal(err)
	}
	moved := f.path + "2"
	if err := os.Rename(f.path, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(moved, f.path); err != nil {
		t.Fatal(err)
	}
	if got := recalled(f, "a", "c"); got != "-" {
		t.Errorf("through a link: %s", got)
	}
	err := f.Memory(Server{Start: func() string { return "a" }}).Remember(recall.Client{Key: "c"}, offered(t))
	if err == nil {
		t.Error("it was written through a link")
	}
}

func TestClearRemovesServersByName(t *testing.T) {
	f, _ := folder(t)
	for _, name := range []string{"a", "b", "c"} {
		remember(t, f, name, "x", "one")
		remember(t, f, name, "y", "one")
	}
	if n, err := f.Clear("server a", "server c", "server z"); n != 4 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if all, err := f.Entries(); err != nil || len(all) != 2 || all[0].Server != "server b" || all[0].Items[mcpwire.Tool] != 1 {
		t.Errorf("left: %+v, %v", all, err)
	}
	if n, err := f.Clear(); n != 2 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if n, err := At(filepath.Join(t.TempDir(), "none")).Clear(); n != 0 || err != nil {
		t.Errorf("of no folder: %d, %v", n, err)
	}
}

func TestManyWritersAndReaders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			f := At(path)
			m := f.Memory(Server{Name: "s", Start: func() string { return "s" }})
			for j := range 25 {
				o := &recall.Offered{Result: mcpwire.InitializeResult{ProtocolVersion: mcpwire.Latest, Instructions: strings.Repeat("x", i*1000+j)}}
				if err := m.Remember(recall.Client{Key: "k"}, o); err != nil {
					t.Error(err)
				}
				if got := m.Recall("k"); got == nil {
					t.Error("nothing was recalled while others write")
				}
			}
		})
	}
	all.Wait()
}

func TestTheFolderIsWhereTheSystemWantsIt(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	f, err := Open()
	if err != nil || f.Path() != filepath.Join(dir, "toolman", "catalog") {
		t.Errorf("got %v, %v", f, err)
	}
	t.Setenv("XDG_CACHE_HOME", "relative")
	if f, err := Open(); err == nil && (strings.Contains(f.Path(), "relative") || !filepath.IsAbs(f.Path())) {
		t.Errorf("got %s", f.Path())
	}
}

// The first list waits for this.
func BenchmarkRecall(b *testing.B) {
	f := At(filepath.Join(b.TempDir(), "c"))
	var tools []string
	for i := range 100 {
		tools = append(tools, fmt.Sprintf(`{"name":"t%d","description":%q,"inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`, i, strings.Repeat("x", 300)))
	}
	page, err := mcpwire.ParsePage(mcpwire.Tool, []byte(`{"tools":[`+strings.Join(tools, ",")+`]}`))
	if err != nil {
		b.Fatal(err)
	}
	o := &recall.Offered{Result: mcpwire.InitializeResult{ProtocolVersion: mcpwire.Latest}}
	o.Lists[mcpwire.Tool] = page.Items
	m := f.Memory(Server{Name: "s", Start: func() string { return "s" }})
	if err := m.Remember(recall.Client{Key: "k"}, o); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if m.Recall("k") == nil {
			b.Fatal("nothing is recalled")
		}
	}
}
