package config

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// Every enabled server with a name has a default toolset, unless the file has one of that name.
func TestDefaultToolsets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tools.toml")
	text := `default_toolsets = true
active_toolsets = ["toolset:git", "toolset:web"]
[toolsets.web]
tools = ["web_*"]
[[servers]]
namespace = "git"
command = "x"
description = "About git"
[[servers]]
namespace = "web"
command = "x"
[[servers]]
namespace = "git"
name = "other"
command = "x"
[[servers]]
namespace = ""
command = "x"
[[servers]]
namespace = "off"
command = "x"
enabled = false
`
	for _, on := range []bool{true, false} {
		if !on {
			text = "active_toolsets = [\"toolset:web\"]\n" + text[len("default_toolsets = true\nactive_toolsets = [\"toolset:git\", \"toolset:web\"]\n"):]
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := Load(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := []Toolset{{Name: "web", Tools: []string{"web_*"}, Line: c.Toolsets[0].Line}}
		if on {
			want = append(want, Toolset{Name: "git", Server: "git", Description: "About git", Line: 5},
				Toolset{Name: "other", Server: "other", Description: "Every tool of server other", Line: 12})
		}
		if !reflect.DeepEqual(c.Toolsets, want) {
			t.Errorf("got  %+v\nwant %+v", c.Toolsets, want)
		}
	}
}
