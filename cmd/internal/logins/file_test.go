package logins

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

var linear = Key{URL: "https://mcp.linear.app/mcp", Account: "linear"}

func folder(t *testing.T) Folder { return At(filepath.Join(t.TempDir(), "logins")) }

// set returns a change.
func set(token string) func(*Record) error {
	return func(r *Record) error { r.AccessToken = token; return nil }
}

func update(t *testing.T, f *File, change func(*Record) error) {
	t.Helper()
	if err := f.Update(t.Context(), change); err != nil {
		t.Fatal(err)
	}
}

// token returns the access token of a file; "-" if there is no file.
func token(t *testing.T, f *File) string {
	t.Helper()
	r, err := f.Load()
	if err != nil {
		t.Fatal(err)
	}
	if r == nil {
		return "-"
	}
	return r.AccessToken
}

func mode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	if info, err := os.Stat(path); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != want) {
		t.Errorf("%s: %v, %v, want %v", path, info.Mode().Perm(), err, want)
	}
}

// left returns the names of the files in a folder.
func left(t *testing.T, f Folder) string {
	t.Helper()
	all, err := os.ReadDir(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range all {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestALoginIsKept(t *testing.T) {
	dir := folder(t)
	f := dir.File(linear)
	if got := token(t, f); got != "-" {
		t.Errorf("before: %s", got)
	}
	at := time.Now().UTC().Truncate(0)
	want := Record{Version: 1, Key: linear, Issuer: "https://linear.app", TokenEndpoint: "https://linear.app/token", Client: Client{ID: "a&b", Secret: "s", Method: "post"},
		Asked: []string{"read"}, AccessToken: "<a>", RefreshToken: "r", Expiry: at, LoggedIn: at, Challenge: &Challenge{Scopes: []string{"x"}, At: at}}
	update(t, f, func(r *Record) error {
		if r.Key != linear || r.HasTokens() {
			t.Errorf("the first change gets %+v", r)
		}
		*r = want
		return nil
	})
	r, err := dir.File(linear).Load()
	if err != nil || string(mustRender(t, r)) != string(mustRender(t, &want)) || !r.Expiry.Equal(at) || r.Challenge == nil || r.Client != want.Client {
		t.Errorf("got %+v, %v", r, err)
	}
	mode(t, dir.Path(), 0o700)
	mode(t, f.Path(), 0o600)
	if got := left(t, dir); got != filepath.Base(f.Path()) {
		t.Errorf("in the folder: %s", got)
	}
	update(t, f, func(r *Record) error {
		if r.AccessToken != "<a>" {
			t.Errorf("the next change gets %+v", r)
		}
		r.DropTokens()
		return nil
	})
	if r, err := f.Load(); err != nil || r.HasTokens() || r.Client.ID != "a&b" || r.Challenge == nil || !r.Expiry.IsZero() {
		t.Errorf("without tokens: %+v, %v", r, err)
	}
	for range 2 {
		if err := f.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := left(t, dir); got != "" {
		t.Errorf("in the folder: %s", got)
	}
}

func mustRender(t *testing.T, r *Record) []byte {
	t.Helper()
	text, err := r.render()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestEachKeyHasAFile(t *testing.T) {
	dir := folder(t)
	keys := []Key{linear, {URL: linear.URL, Account: "work"}, {URL: linear.URL, Account: "linear", Agent: "reviewer"}, {URL: linear.URL + "2", Account: "linear"},
		{URL: linear.URL + "?a", Account: "linear"}, {URL: "http://[::1]:8080/../etc", Account: "x/../y"}}
	for i, k := range keys {
		update(t, dir.File(k), set(strconv.Itoa(i)))
	}
	for i, k := range keys {
		if got := token(t, dir.File(k)); got != strconv.Itoa(i) {
			t.Errorf("%v: got %s", k, got)
		}
	}
	all, err := dir.All()
	if err != nil || len(all) != len(keys) {
		t.Fatalf("got %d files, %v", len(all), err)
	}
	for _, f := range all { // without a key
		r, err := f.Load()
		if err != nil || dir.File(r.Key).Path() != f.Path() {
			t.Errorf("%s: %+v, %v", f.Path(), r, err)
		}
		update(t, f, set("new"))
		if got := token(t, dir.File(r.Key)); got != "new" {
			t.Errorf("got %s", got)
		}
	}
	for _, same := range []string{"HTTPS://mcp.Linear.app:443/mcp", "https://user:pw@mcp.linear.app/mcp", linear.URL} {
		if f := dir.File(Key{URL: same, Account: "linear"}); f.Path() != dir.File(linear).Path() || token(t, f) != "new" {
			t.Errorf("%s has another file", same)
		}
	}
	if base := filepath.Base(dir.File(linear).Path()); !strings.HasPrefix(base, "mcp.linear.app-") {
		t.Errorf("the name is %s", base)
	}
	if all, err := At(filepath.Join(t.TempDir(), "none")).All(); all != nil || err != nil {
		t.Errorf("of no folder: %v, %v", all, err)
	}
}

func TestTheFolderIsTheStatesOrThatOfTheVariable(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TOOLMAN_LOGINS", "")
	t.Setenv("XDG_STATE_HOME", dir)
	if f, err := Open(); err != nil || f.Path() != filepath.Join(dir, "toolman", "logins") {
		t.Errorf("got %v, %v", f, err)
	}
	t.Setenv("TOOLMAN_LOGINS", filepath.Join(dir, "x"))
	if f, err := Open(); err != nil || f.Path() != filepath.Join(dir, "x") {
		t.Errorf("got %v, %v", f, err)
	}
	t.Setenv("TOOLMAN_LOGINS", "relative")
	if f, err := Open(); err == nil || !strings.Contains(err.Error(), `TOOLMAN_LOGINS is "relative"`) {
		t.Errorf("got %v, %v", f, err)
	}
}

func TestALooserModeIsRepairedAndWarnedOf(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED on windows: modes say nothing there")
	}
	dir := folder(t)
	f := dir.File(linear)
	update(t, f, set("a"))
	if f.Warning() != "" {
		t.Errorf("warned: %s", f.Warning())
	}
	if err := os.Chmod(f.Path(), 0o640); err != nil {
		t.Fatal(err)
	}
	if got := token(t, f); got != "a" || !strings.Contains(f.Warning(), f.Path()+" had the mode -rw-r-----") {
		t.Errorf("got %s, warned: %s", got, f.Warning())
	}
	mode(t, f.Path(), 0o600)
	if err := os.Chmod(dir.Path(), 0o755); err != nil {
		t.Fatal(err)
	}
	update(t, f, set("b"))
	if !strings.Contains(f.Warning(), "folder") {
		t.Errorf("warned: %s", f.Warning())
	}
	mode(t, dir.Path(), 0o700)
	mode(t, f.Path(), 0o600)
}

// What cannot be used is an error that says what to do, and stays as it is.
func TestAFileThatCannotBeUsed(t *testing.T) {
	good := func(t *testing.T, k Key) string {
		return string(mustRender(t, &Record{Key: k, AccessToken: "my-secret"}))
	}
	for _, tt := range []struct {
		name, text, says string
		owner            int
		other            func(path string) error
	}{
		{"damaged", `{"version":1,"accessToken":"my-secret`, "is damaged; remove it and log in again", 0, nil},
		{"empty", "", "is damaged", 0, nil},
		{"no version", `{}`, "is damaged", 0, nil},
		{"another type", `{"version":1,"url":"u","expiry":"my-secret"}`, "is damaged", 0, nil},
		{"a newer version", `{"version":2,"accessToken":["my-secret"]}`, "has version 2 of the format", 0, nil},
		{"too long", strings.Repeat(" ", maxFile+1), "is not a regular file of at most", 0, nil},
		{"of another server", good(t, Key{URL: "https://evil.test/", Account: "linear"}), "is the login to another server", 0, nil},
		{"of another agent", good(t, Key{linear.URL, linear.Account, "a"}), "is the login to another server", 0, nil},
		{"another user's", good(t, linear), "belongs to user 54321", 54321, nil},
		{"a folder", "", "is not a regular file", 0, func(path string) error { return os.Mkdir(path, 0o700) }},
		{"a link", "", "is not a regular file", 0, func(path string) error { return os.Symlink("/etc/passwd", path) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t)
			f := dir.File(linear)
			if err := os.MkdirAll(dir.Path(), 0o700); err != nil {
				t.Fatal(err)
			}
			if tt.other != nil {
				if err := tt.other(f.Path()); err != nil {
					t.Skip("SKIPPED here: links cannot be made")
				}
			} else if err := os.WriteFile(f.Path(), []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if tt.owner != 0 {
				if err := os.Chown(f.Path(), tt.owner, -1); err != nil {
					t.Skip("SKIPPED here: only root can give files away")
				}
			}
			r, err := f.Load()
			if r != nil || err == nil || !strings.Contains(err.Error(), f.Path()+" "+tt.says) || strings.Contains(err.Error(), "my-secret") {
				t.Errorf("got %+v, %v", r, err)
			}
			if err := f.Update(t.Context(), func(*Record) error { t.Error("it is changed"); return nil }); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v", err)
			}
			if text, _ := os.ReadFile(f.Path()); tt.other == nil && string(text) != tt.text {
				t.Errorf("the file is now %q", text)
			}
			if got := left(t, dir); got != filepath.Base(f.Path()) {
				t.Errorf("in the folder: %s", got)
			}
			if err := f.Remove(t.Context()); err != nil || left(t, dir) != "" {
				t.Errorf("removing it: %v", err)
			}
		})
	}
}

func TestAFolderOfAnotherUserIsNotUsed(t *testing.T) {
	dir := folder(t)
	if err := os.Mkdir(dir.Path(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir.Path(), 54321, -1); err != nil || os.Geteuid() != 0 {
		t.Skip("SKIPPED here: only root can give folders away")
	}
	if err := dir.File(linear).Update(t.Context(), set("a")); err == nil || !strings.Contains(err.Error(), "belongs to user 54321") || !strings.Contains(err.Error(), "TOOLMAN_LOGINS") {
		t.Errorf("got %v", err)
	}
}

func TestAChangeThatFailsChangesNothing(t *testing.T) {
	dir := folder(t)
	f := dir.File(linear)
	if update(t, f, func(*Record) error { return nil }); left(t, dir) != "" {
		t.Errorf("there is %s", left(t, dir))
	}
	update(t, f, set("a"))
	info, err := os.Stat(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	same := func() {
		t.Helper()
		if now, err := os.Stat(f.Path()); err != nil || !os.SameFile(info, now) || token(t, f) != "a" || left(t, dir) != filepath.Base(f.Path()) {
			t.Errorf("the file has been replaced, or there are others: %s", left(t, dir))
		}
	}
	no := errors.New("no")
	if err := f.Update(t.Context(), func(r *Record) error { r.AccessToken = "b"; return no }); err != no {
		t.Errorf("got %v", err)
	}
	same()
	update(t, f, set("a"))
	same()
	if err := f.Update(t.Context(), set(strings.Repeat("x", maxFile))); err == nil || !strings.Contains(err.Error(), "cannot be saved") {
		t.Errorf("got %v", err)
	}
	same()
}

func TestChanged(t *testing.T) {
	dir := folder(t)
	f, other := dir.File(linear), dir.File(linear)
	if !f.Changed() {
		t.Error("it has never been loaded")
	}
	step := func(what string, want bool) {
		t.Helper()
		if got := f.Changed(); got != want {
			t.Errorf("%s: changed is %v", what, got)
		}
		f.Load()
		if f.Changed() {
			t.Errorf("%s: it has changed since it was loaded", what)
		}
	}
	f.Load()
	step("there is none", false)
	update(t, other, set("a"))
	step("a first login", true)
	step("nothing", false)
	update(t, other, set("b"))
	step("another token of the same length", true)
	update(t, f, set("c"))
	step("its own change", false)
	if err := other.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	step("it is gone", true)
}

// What a process had written when it was killed counts.
func TestAChangeIsCompletedWhenTheProcessWasKilled(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct{ name, temp, want string }{
		{"complete", string(mustRender(t, &Record{Key: linear, AccessToken: "new", Renewed: now})) + strings.Repeat(" ", 100), "new"},
		{"older", string(mustRender(t, &Record{Key: linear, AccessToken: "new", Renewed: now.Add(-2 * time.Hour)})), "old"},
		{"not complete", string(mustRender(t, &Record{Key: linear, AccessToken: "new", Renewed: now}))[:100] + strings.Repeat(" ", 100), "old"},
		{"of another server", string(mustRender(t, &Record{Key: Key{URL: "u"}, AccessToken: "new", Renewed: now})), "old"},
		{"not begun", strings.Repeat(" ", reserved), "old"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t)
			f := dir.File(linear)
			update(t, f, func(r *Record) error { r.AccessToken, r.Renewed = "old", now.Add(-time.Hour); return nil })
			if err := os.WriteFile(f.Path()+temporary, []byte(tt.temp), 0o600); err != nil {
				t.Fatal(err)
			}
			update(t, f, func(r *Record) error {
				if r.AccessToken != tt.want {
					t.Errorf("the change gets %s", r.AccessToken)
				}
				return nil
			})
			if got := token(t, f); got != tt.want || left(t, dir) != filepath.Base(f.Path()) {
				t.Errorf("got %s, in the folder: %s", got, left(t, dir))
			}
		})
	}
}

func writeFile(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }
