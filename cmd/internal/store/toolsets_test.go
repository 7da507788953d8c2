package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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

func parse(text string) (map[string]toolset.Set, error) {
	f := setFile{path: "toolsets.json", name: "toolsets.json", text: []byte(text)}
	return f.parse()
}

func TestTheDocumentsExampleIsReadAndWrittenAsItStands(t *testing.T) {
	sets, err := parse(document)
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

func TestAFileThatIsNotUnderstoodIsRefusedWithItsLine(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "toolsets.json:1: this is not JSON"},
		{"an array", "[]", "toolsets.json:1: the file holds an array"},
		{"no JSON", "{\n\"a\": {\n\"name\" 1}}", "toolsets.json:3: this is not JSON"},
		{"cut off", "{\n\"a\": {\n\"name\": \"a\"", "toolsets.json:3: this is not JSON"},
		{"more behind it", "{}\n{}", "toolsets.json:2: there is more after the end"},
		{"no UTF-8", "{\"\xff\":{}}", "not UTF-8"},
		{"a member twice", `{"a": {"name": "a", "name": "a", "tools": []}}`, `the key "name" has already been given`},
		{"a toolset twice", `{"a": {"name": "a", "tools": []}, "a": {"name": "a", "tools": []}}`, `the key "a" has already been given`},
		{"too many", "{" + many(1001) + "}", "there are more than 1000 toolsets"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := parse(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			f := withSets(t, tt.text)
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

// many returns members of an object.
func many(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"s%d": {"name": "s%[1]d", "tools": []}`, i))
	}
	return strings.Join(all, ",")
}

// withSets returns the folder with this file of toolsets.
func withSets(t *testing.T, text string) Toolsets {
	t.Helper()
	f := ToolsetsBeside(filepath.Join(t.TempDir(), "tools.toml"))
	if err := os.Mkdir(f.path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.Sets(), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return f
}

// What is wrong with one toolset, or with one tool of it, does not affect the others, and stays in
// the file as it is.
func TestWhatIsBrokenAffectsOnlyItself(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"an unknown member", "{\"a\": {\"name\": \"a\",\n\"toolNotes\": [], \"tools\": []}}", `toolsets.json:2: unknown key "toolNotes" in a`},
		{"a member in other letters", `{"a": {"Name": "a", "tools": []}}`, `unknown key "Name" in a`},
		{"no table", `{"a": "b"}`, "a is a string where a table is expected"},
		{"another name within", `{"a": {"name": "b", "tools": []}}`, `name cannot be "b"; write the name that the toolset stands under`},
		{"no owner", `{"/a": {"name": "a", "tools": []}}`, `"" is no owner of a toolset; write 1 to 2048 visible`},
		{"a bad owner", `{"x y/a": {"name": "a", "owner": "x y", "tools": []}}`, `"x y" is no owner`},
		{"two owners", `{"x/y/a": {"name": "y/a", "owner": "x", "tools": []}}`, `"y/a" is no name of a toolset`},
		{"another owner within", `{"x/a": {"name": "a", "owner": "y", "tools": []}}`, `owner cannot be "y"; write the owner that stands before the name`},
		{"an owner that the key does not have", `{"a": {"name": "a", "owner": "y", "tools": []}}`, `owner cannot be "y"`},
		{"an owner in the key alone", `{"x/a": {"name": "a", "tools": []}}`, "the toolset a needs owner"},
		{"no name", `{"a": {"tools": []}}`, "the toolset a needs name and tools"},
		{"no tools", `{"a": {"name": "a"}}`, "the toolset a needs name and tools"},
		{"a bad name", `{"a b": {"name": "a b", "tools": []}}`, `"a b" is no name of a toolset`},
		{"tools that are no array", `{"a": {"name": "a", "tools": {}}}`, "tools is a table where an array of tables is expected"},
		{"a tool that is a string", `{"a": {"name": "a", "tools": ["x"]}}`, "tools holds a string where a table is expected"},
		{"an empty reference", `{"a": {"name": "a", "tools": [{}]}}`, "a tool needs namespacedName or refId"},
		{"an empty name of a tool", `{"a": {"name": "a", "tools": [{"namespacedName": ""}]}}`, `namespacedName cannot be ""; write 1 to 1024 bytes`},
		{"an unknown hash", `{"a": {"name": "a", "tools": [{"refId": "md5:1"}]}}`, `refId cannot be "md5:1"; write sha256:`},
		{"more in a reference", `{"a": {"name": "a", "tools": [{"refId": "sha256:` + strings.Repeat("a", 64) + `", "server": "x"}]}}`, `unknown key "server" in a tool`},
		{"a bad time", `{"a": {"name": "a", "createdAt": "yesterday", "tools": []}}`, `createdAt cannot be "yesterday"; write a time like`},
		{"a number as description", `{"a": {"name": "a", "description": 1, "tools": []}}`, "description is a number where a string is expected"},
		{"a long description", `{"a": {"name": "a", "description": "` + strings.Repeat("a", 1001) + `", "tools": []}}`, "up to 1000 bytes"},
		{"too many tools", `{"a": {"name": "a", "tools": [` + strings.Repeat(`{"namespacedName": "x"},`, 1000) + `{"namespacedName": "x"}]}}`, "more than 1000 tools"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := withSets(t, tt.text)
			sets, err := f.Load()
			if err != nil || len(sets) != 1 {
				t.Fatalf("got %v, %v", sets, err)
			}
			for key, set := range sets {
				broken := set.Broken
				for _, ref := range set.Tools {
					broken += ref.Broken
				}
				if !strings.Contains(broken, tt.want) || !strings.HasPrefix(broken, ".toolman/toolsets.json:") {
					t.Errorf("%s: got %s, want %s", key, broken, tt.want)
				}
			}
			err = f.Update(t.Context(), func(sets map[string]toolset.Set) error {
				sets["new"] = toolset.Set{Name: "new", Tools: []toolset.Ref{{NamespacedName: "a_b"}}}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			left, err := os.ReadFile(f.Sets())
			var before, after map[string]any
			if err != nil || json.Unmarshal([]byte(tt.text), &before) != nil || json.Unmarshal(left, &after) != nil || after["new"] == nil {
				t.Fatalf("the file became %s, %v", left, err)
			}
			delete(after, "new")
			if !reflect.DeepEqual(before, after) {
				t.Errorf("the file became %s", left)
			}
		})
	}
}

func TestOtherReferencesOfAToolsetStay(t *testing.T) {
	hash := strings.Repeat("a", 64)
	sets, err := parse(`{"a": {"name": "a", "tools": [{"namespacedName": "git_x", "refId": "sha256:abc123..."}, {"refId": "` + hash + `"}]}}`)
	want := toolset.Ref{RefID: "sha256:" + hash} // the prefix is added
	if got := sets["a"].Tools; err != nil || len(got) != 2 || got[1] != want || got[0].NamespacedName != "git_x" || !strings.Contains(got[0].Broken, `refId cannot be "sha256:abc123..."`) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A file to import can hold one toolset, with or without an owner.
func TestOneToolsetIsRead(t *testing.T) {
	for text, want := range map[string]string{
		`{"name": "dev", "version": "2.1.0", "tools": [{"namespacedName": "git_x"}]}`: "dev 2.1.0 ",
		`{"name": "dev", "owner": "tokens::a", "tools": []}`:                          "tokens::a/dev  ",
		`{"name": "dev"}`: "dev  standard input:1: the toolset dev needs name and tools; add them",
		`{"name": {"name": "name", "tools": []}, "tools": {"name": "tools", "tools": []}}`: "name  \ntools  ",
	} {
		sets, err := ReadToolsets("-", strings.NewReader(text))
		var got []string
		for key, set := range sets {
			got = append(got, key+" "+set.Version+" "+set.Broken)
		}
		slices.Sort(got)
		if err != nil || strings.Join(got, "\n") != want {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
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
	if _, err := f.Equipped(); err == nil || !strings.Contains(err.Error(), `unknown key "set" in the file`) {
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
	f.Add([]byte(`{"é\ud800/":{"x":[1e3]},"b":{"name":"b","tools":[{"refId":"\ud800"},1.0,null]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		sets, err := parse(string(text))
		if err != nil {
			return
		}
		again := FormatToolsets(sets)
		back, err := parse(string(again))
		if err != nil {
			t.Fatalf("what was written is refused: %v\n%s", err, again)
		}
		once := FormatToolsets(back)
		if string(once) != string(again) || len(back) != len(sets) {
			t.Errorf("written %s, and then %s", again, once)
		}
	})
}
