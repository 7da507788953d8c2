package configfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolman/cmd/internal/config"
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
			got, err := Find(tt.explicit, func(name string) string { return tt.env[name] }, filepath.Join(root, "repo/sub"))
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
	_, err := Find("", func(name string) string {
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
