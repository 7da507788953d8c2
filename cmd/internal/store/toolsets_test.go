package store

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"toolman/router/toolset"
)

// document is the example of the format's description.
var document = strings.NewReplacer("abc123...", strings.Repeat("a", 64), "def456...", strings.Repeat("d", 64)).Replace(`{
  "dev-essentials": {
    "name": "dev-essentials",
    "description": "Essential tools for web development",
    "version": "1.0.0",
    "createdAt": "2024-01-15T10:30:00Z",
    "tools": [
      {
        "namespacedName": "git.status",
        "refId": "sha256:abc123..."
      },
      {
        "namespacedName": "docker.ps",
        "refId": "sha256:def456..."
      }
    ]
  }
}
`)

func TestTheDocumentsExampleIsReadAndWrittenAsItStands(t *testing.T) {
	sets, err := parseToolsets([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	want := toolset.Set{Name: "dev-essentials", Description: "Essential tools for web development", Version: "1.0.0",
		CreatedAt: time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC),
		Tools: []toolset.Ref{{NamespacedName: "git.status", RefID: "sha256:" + strings.Repeat("a", 64)},
			{NamespacedName: "docker.ps", RefID: "sha256:" + strings.Repeat("d", 64)}}}
	if got := sets["dev-essentials"]; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if text := FormatToolsets(sets); string(text) != document {
		t.Errorf("%s", text)
	}
}

func TestWhatIsNotUnderstoodIsRefusedWithItsLine(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "line 1: this is not JSON"},
		{"an array", "[]", "line 1: the file holds an array"},
		{"no JSON", "{\n\"a\": {\n\"name\" 1}}", "line 3: this is not JSON"},
		{"cut off", "{\n\"a\": {\n\"name\": \"a\"", "line 3: this is not JSON"},
		{"more behind it", "{}\n{}", "line 2: there is more after the end"},
		{"no UTF-8", "{\"\xff\":{}}", "not UTF-8"},
		{"an unknown member", "{\"a\": {\"name\": \"a\",\n\"toolNotes\": [], \"tools\": []}}", `line 2: "toolNotes" is not known in a toolset`},
		{"a member in other letters", `{"a": {"Name": "a", "tools": []}}`, `"Name" is not known`},
		{"a member twice", `{"a": {"name": "a", "name": "a", "tools": []}}`, `the key "name" has already been given`},
		{"a toolset twice", `{"a": {"name": "a", "tools": []}, "a": {"name": "a", "tools": []}}`, `the key "a" has already been given`},
		{"another name within", `{"a": {"name": "b", "tools": []}}`, "name must be a string: the name that the toolset stands under"},
		{"no owner", `{"/a": {"name": "a", "tools": []}}`, `"" is no owner of a toolset: 1 to 2048 visible`},
		{"a bad owner", `{"x y/a": {"name": "a", "owner": "x y", "tools": []}}`, `"x y" is no owner`},
		{"two owners", `{"x/y/a": {"name": "y/a", "owner": "x", "tools": []}}`, `"y/a" is no name of a toolset`},
		{"another owner within", `{"x/a": {"name": "a", "owner": "y", "tools": []}}`, "owner must be a string: the owner that stands before the name"},
		{"an owner that the key does not have", `{"a": {"name": "a", "owner": "y", "tools": []}}`, "owner must be a string"},
		{"an owner in the key alone", `{"x/a": {"name": "a", "tools": []}}`, "the toolset a needs owner"},
		{"no name", `{"a": {"tools": []}}`, "the toolset a needs name and tools"},
		{"no tools", `{"a": {"name": "a"}}`, "the toolset a needs name and tools"},
		{"a bad name", `{"a b": {"name": "a b", "tools": []}}`, `"a b" is no name of a toolset`},
		{"tools that are no array", `{"a": {"name": "a", "tools": {}}}`, "tools must be an array"},
		{"a tool that is a string", `{"a": {"name": "a", "tools": ["x"]}}`, "a tool must be an object"},
		{"an empty reference", `{"a": {"name": "a", "tools": [{}]}}`, "a tool needs namespacedName or refId"},
		{"an empty name of a tool", `{"a": {"name": "a", "tools": [{"namespacedName": ""}]}}`, "namespacedName must be a string: 1 to 1024 bytes"},
		{"an unknown hash", `{"a": {"name": "a", "tools": [{"refId": "md5:1"}]}}`, "refId must be a string: sha256:"},
		{"more in a reference", `{"a": {"name": "a", "tools": [{"refId": "sha256:` + strings.Repeat("a", 64) + `", "server": "x"}]}}`, `"server" is not known in a tool`},
		{"a bad time", `{"a": {"name": "a", "createdAt": "yesterday", "tools": []}}`, "createdAt must be a string: a time like"},
		{"a number as description", `{"a": {"name": "a", "description": 1, "tools": []}}`, "description must be a string"},
		{"a long description", `{"a": {"name": "a", "description": "` + strings.Repeat("a", 1001) + `", "tools": []}}`, "up to 1000 bytes"},
		{"too many tools", `{"a": {"name": "a", "tools": [` + strings.Repeat(`{"namespacedName": "x"},`, 1000) + `{"namespacedName": "x"}]}}`, "more than 1000 tools"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := parseToolsets([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			f := ToolsetsBeside(filepath.Join(t.TempDir(), "tools.toml"))
			if err := os.Mkdir(f.path, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(f.Sets(), []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			err := f.Update(t.Context(), func(map[string]toolset.Set) error { t.Error("changed"); return nil })
			if err == nil || !strings.Contains(err.Error(), "toolsets.json") || !strings.Contains(err.Error(), "left as it is") {
				t.Errorf("got %v", err)
			}
			if left, err := os.ReadFile(f.Sets()); err != nil || string(left) != tt.text {
				t.Errorf("the file became %q", left)
			}
		})
	}
}

func TestOwnersMayUseTheSameName(t *testing.T) {
	f := ToolsetsBeside(filepath.Join(t.TempDir(), "tools.toml"))
	want := map[string]toolset.Set{}
	for _, owner := range []string{"", "tokens::alice", "https%3A%2F%2Flogin.example.com:bob"} {
		set := toolset.Set{Name: "dev", Owner: owner, Tools: []toolset.Ref{{NamespacedName: "a_b"}}}
		want[set.Key()] = set
	}
	if err := f.Update(t.Context(), func(sets map[string]toolset.Set) error { maps.Copy(sets, want); return nil }); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Load(); err != nil || !reflect.DeepEqual(got, want) || len(got) != 3 {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestToolsetsAreKeptAndChanged(t *testing.T) {
	f := ToolsetsBeside(filepath.Join(t.TempDir(), "tools.toml"))
	if sets, err := f.Load(); err != nil || len(sets) != 0 {
		t.Fatalf("without a file: %v, %v", sets, err)
	}
	add := func(name string) func(map[string]toolset.Set) error {
		return func(sets map[string]toolset.Set) error {
			sets[name] = toolset.Set{Name: name, Tools: []toolset.Ref{{NamespacedName: "a_b"}}}
			return nil
		}
	}
	var all sync.WaitGroup
	names := []string{"one", "two", "three", "four"}
	for _, name := range names {
		all.Go(func() {
			if err := f.Update(t.Context(), add(name)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if sets, err := f.Load(); err != nil || len(sets) != len(names) {
		t.Errorf("kept %v, %v", sets, err)
	}
	before, _ := os.ReadFile(f.Sets())
	why := errors.New("no")
	if err := f.Update(t.Context(), func(sets map[string]toolset.Set) error { clear(sets); return why }); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if err := f.Update(t.Context(), add("not a name")); err == nil {
		t.Error("what cannot be read was written")
	}
	if after, _ := os.ReadFile(f.Sets()); string(after) != string(before) {
		t.Errorf("the file became %s", after)
	}
}

func TestWhichToolsetIsEquippedIsKept(t *testing.T) {
	f := ToolsetsBeside(filepath.Join(t.TempDir(), "tools.toml"))
	for _, name := range []string{"", "dev", "other", ""} {
		if err := f.Equip(context.Background(), name); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Equipped(); err != nil || got != name {
			t.Errorf("got %q, %v, want %q", got, err, name)
		}
	}
	if err := os.WriteFile(f.equipped(), []byte(`{"set": "dev"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Equipped(); err == nil || !strings.Contains(err.Error(), `"set" is not known here`) {
		t.Errorf("got %v", err)
	}
	if err := f.Equip(t.Context(), "dev"); err == nil {
		t.Error("a file that is not understood was written over")
	}
}

func FuzzParseEquipped(f *testing.F) {
	for _, seed := range []string{`{"toolset": "dev"}`, `{}`, `{"toolset":"a","toolset":"b"}`, `{"toolset":1}`, `{"toolset":"\u0000"}`, `[]`, `{"toolset":"a"} x`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		name, err := ToolsetsBeside("x.toml").parseEquipped(text)
		if err == nil && name != "" && !toolset.ValidName(name) {
			t.Errorf("%q names the toolset %q", text, name)
		}
		var read map[string]string
		if err == nil && (json.Unmarshal(text, &read) != nil || read["toolset"] != name) {
			t.Errorf("%q is read as %q, and by others as %v", text, name, read)
		}
	})
}

func FuzzParseToolsets(f *testing.F) {
	f.Add([]byte(document))
	f.Add([]byte(`{"a":{"name":"a","tools":[{"namespacedName":"é\u0000\ud800"}]}}`))
	f.Add([]byte(`{"a":{"name":"a","createdAt":"2024-02-30T25:00:00+24:00","tools":[]}}`))
	f.Add([]byte(`{"x:y/a":{"name":"a","owner":"x:y","tools":[]},"a":{"name":"a","tools":[]}}`))
	f.Add([]byte(strings.Repeat(`{"a":`, 100)))
	f.Fuzz(func(t *testing.T, text []byte) {
		sets, err := parseToolsets(text)
		if err != nil {
			return
		}
		again := FormatToolsets(sets)
		back, err := parseToolsets(again)
		if err != nil {
			t.Fatalf("what was written is refused: %v\n%s", err, again)
		}
		once := FormatToolsets(back)
		if string(once) != string(again) || len(back) != len(sets) {
			t.Errorf("written %s, and then %s", again, once)
		}
	})
}
