package setup

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/reference"
	"toolman/jsonrpc/trace/redact"
	"toolman/router/metatool"
)

// tree makes files, and folders where the name ends in a slash.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range names {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			path = filepath.Join(path, ".keep")
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFindLooksInOrder(t *testing.T) {
	for _, tt := range []struct {
		name     string
		files    []string
		explicit string
		env      map[string]string
		want     string // against the root; "" is nothing found
		why      string
	}{
		{"--config before everything", []string{"repo/sub/tools.toml"}, "other.toml", map[string]string{"TOOLMAN_CONFIG": "env.toml"}, "repo/sub/other.toml", "--config"},
		{"--config before the text in the environment", nil, "other.toml", map[string]string{"TOOLMAN_CONFIG_JSON": "{}"}, "repo/sub/other.toml", "--config"},
		{"TOOLMAN_CONFIG before the working directory", []string{"repo/sub/tools.toml"}, "", map[string]string{"TOOLMAN_CONFIG": "../env.json"}, "repo/env.json", "TOOLMAN_CONFIG"},
		{"the working directory before those above", []string{"repo/.git/", "repo/tools.toml", "repo/sub/tools.toml"}, "", nil, "repo/sub/tools.toml", "in the working directory"},
		{"above, to the repository's root", []string{"repo/.git/", "repo/tools.toml", "repo/sub/"}, "", nil, "repo/tools.toml", "above"},
		{"a worktree's .git is a file", []string{"repo/.git", "repo/tools.toml", "repo/sub/"}, "", nil, "repo/tools.toml", "above"},
		{"not above the repository's root", []string{"repo/.git/", "tools.toml", "repo/sub/"}, "", nil, "", ""},
		{"not above at all outside a repository", []string{"repo/tools.toml", "repo/sub/"}, "", nil, "", ""},
		{"not above a working directory that is the root", []string{"repo/tools.toml", "repo/sub/.git/"}, "", nil, "", ""},
		{"the client's project at last", []string{"repo/sub/", "project/tools.toml"}, "", map[string]string{"CLAUDE_PROJECT_DIR": "../../project"}, "project/tools.toml", "CLAUDE_PROJECT_DIR"},
		{"a folder of that name is none", []string{"repo/sub/tools.toml/"}, "", nil, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(t, tt.files...)
			if err := os.MkdirAll(filepath.Join(root, "repo/sub"), 0o755); err != nil {
				t.Fatal(err)
			}
			got, err := find(tt.explicit, func(name string) string { return tt.env[name] }, filepath.Join(root, "repo/sub"))
			if tt.want == "" {
				if err == nil {
					t.Fatalf("found %+v", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(root, tt.want); got.Path != want || !strings.Contains(got.Why, tt.why) {
				t.Errorf("got %+v, want %s %s", got, want, tt.why)
			}
		})
	}
}

func TestNothingFoundListsEveryPlaceAndAnExampleThatWorks(t *testing.T) {
	root := tree(t, "repo/.git/", "repo/sub/", "project/")
	dir := filepath.Join(root, "repo/sub")
	_, err := find("", func(name string) string {
		return map[string]string{"CLAUDE_PROJECT_DIR": filepath.Join(root, "project")}[name]
	}, dir)
	if err == nil {
		t.Fatal("found something")
	}
	for _, place := range []string{"repo/sub/tools.toml", "repo/tools.toml", "project/tools.toml"} {
		if !strings.Contains(err.Error(), filepath.Join(root, place)) {
			t.Errorf("%s is not in:\n%v", place, err)
		}
	}
	_, example, _ := strings.Cut(err.Error(), "for example:\n\n")
	path := filepath.Join(t.TempDir(), "tools.toml")
	if err := os.WriteFile(path, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path, config.Options{})
	if err != nil || len(c.Servers) != 1 || len(c.ActiveToolsets) != 1 {
		t.Errorf("the example does not load: %v\n%s", err, example)
	}
}

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		write := func(name, text string) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		link := filepath.Join(dir, "tools.toml")
		if err := os.Symlink(write("v1", "one"), link); err != nil && runtime.GOOS == "windows" {
			t.Skip("A FILE BEHIND A LINK IS NOT TESTED: making one is a privilege on Windows: ", err)
		} else if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		changes := 0
		w := NewWatch(link)
		write("v1", "one and a half") // as soon as it is read for use
		go w.Run(ctx, func() { changes++ })
		expect := func(what string, want int) {
			t.Helper()
			time.Sleep(2 * watchEvery)
			synctest.Wait()
			if changes != want {
				t.Errorf("%s: %d changes, want %d", what, changes, want)
			}
		}
		expect("written before it was first looked at", 1)
		expect("nothing was done", 1)
		write("v1", "one and a half")
		expect("written again as it was", 1)
		write("v1", "two")
		expect("written", 2)
		os.Remove(link)
		expect("gone", 2)
		os.Symlink(write("v2", "three"), link)
		expect("swapped", 3)
		cancel()
		synctest.Wait()
		write("v2", "four")
		expect("not watched any more", 3)
	})
}

// A server is started again for its own keys alone, not for variables that others refer to.
func TestAServerIsAnotherWhenItsOwnKeysAre(t *testing.T) {
	s := config.Server{Namespace: "a", Argv: []string{"a"}, Referred: reference.Variables{"KEY": true}, Line: 1}
	same, inheriting := s, s
	same.Referred, same.Line = reference.Variables{"OTHER": true}, 2
	inheriting.InheritEnv = []string{}
	if fingerprint(s) != fingerprint(same) {
		t.Error("a server is another because of what others refer to")
	}
	if fingerprint(s) == fingerprint(inheriting) {
		t.Error("a server that inherits nothing is as the one that inherits everything")
	}
}

func TestTheRouterHearsWhichServersAreStateless(t *testing.T) {
	for _, want := range []bool{true, false} {
		o, err := Options(&config.Config{Servers: []config.Server{{Namespace: "a", Enabled: true, Stateless: want}}}, redact.NewScrubber(nil))
		if err != nil || o.Servers[0].Stateless != want {
			t.Errorf("got %+v, %v", o.Servers, err)
		}
	}
}

func TestTheRouterReadsCatalogBytesAsTheConfigurationHasThem(t *testing.T) {
	if config.CatalogAuto != metatool.CatalogAuto {
		t.Errorf("%d stands for auto, and %d in the router", config.CatalogAuto, metatool.CatalogAuto)
	}
}

func TestTheUsersOwnFileIsFoundLast(t *testing.T) {
	root := tree(t, "home/.config/toolman/tools.toml", "xdg/toolman/tools.toml", "project/tools.toml", "dir/")
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"HOME": "home"}, "home/.config/toolman/tools.toml"},
		{map[string]string{"HOME": "home", "XDG_CONFIG_HOME": "xdg"}, "xdg/toolman/tools.toml"},
		{map[string]string{"HOME": "home", "CLAUDE_PROJECT_DIR": "project"}, "project/tools.toml"},
		{map[string]string{}, ""},
	} {
		getenv := func(name string) string {
			if value := tt.env[name]; value != "" {
				return filepath.Join(root, value)
			}
			return ""
		}
		at, err := find("", getenv, filepath.Join(root, "dir"))
		if tt.want == "" && err == nil || tt.want != "" && at.Path != filepath.Join(root, tt.want) {
			t.Errorf("%v: got %s, %v", tt.env, at.Path, err)
		}
	}
	if at, err := find("", func(string) string { return "relative" }, filepath.Join(root, "dir")); err == nil && at.Path != "" && strings.Contains(at.Why, "the user's") {
		t.Errorf("a relative XDG_CONFIG_HOME led to %s", at.Path)
	}
}
