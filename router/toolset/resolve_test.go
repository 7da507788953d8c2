package toolset

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// id is a reference of this form for one letter.
func id(letter string) string { return "sha256:" + strings.Repeat(letter, 64) }

// tool is one of a server vcs or git, whose definition is known by a letter.
func tool(name, letter string) Tool {
	_, bare, _ := strings.Cut(name, "_")
	return Tool{Name: name, Full: name, Bare: bare, RefID: id(letter)}
}

func TestReferences(t *testing.T) {
	x := NewIndex([]Tool{tool("git_status", "a"), tool("git_log", "b"), tool("vcs_log", "b"), tool("vcs_diff", "c"),
		{Name: "vcs_odd", Full: "vcs_odd", Bare: "odd"}, {Name: "git_stat", Full: "git_stat", Bare: "stat", RefID: id("1"), NamelessRefID: id("f")}})
	for _, tt := range []struct {
		name          string
		ref           Ref
		outcome       Outcome
		strict, stale string // the tool that is used
		says          string
	}{
		{"both identifiers lead to one tool", Ref{NamespacedName: "git_status", RefID: id("a")}, Match, "git_status", "git_status", ""},
		{"the definition has changed", Ref{NamespacedName: "git_status", RefID: id("0")}, Changed, "", "git_status", "the definition of git_status has changed"},
		{"the tool has another name", Ref{NamespacedName: "git_diff", RefID: id("c")}, Renamed, "", "vcs_diff", "git_diff is now called vcs_diff"},
		{"neither leads to a tool", Ref{NamespacedName: "git_push", RefID: id("0")}, Missing, "", "", "Tool not found: git_push"},
		{"moved to another server and changed there", Ref{NamespacedName: "git_odd", RefID: id("0")}, Missing, "", "", "Tool not found: git_odd (vcs_odd may be what it has become"},
		{"they lead to different tools", Ref{NamespacedName: "git_status", RefID: id("c")}, Split, "", "git_status", "git_status is not what it was, and what it was is now called vcs_diff"},
		{"a renamed tool that several servers have", Ref{NamespacedName: "old_log", RefID: id("b")}, Ambiguous, "", "git_log", "old_log may be any of git_log or vcs_log"},
		{"a name whose definition others have too", Ref{NamespacedName: "vcs_log", RefID: id("b")}, Match, "vcs_log", "vcs_log", ""},
		{"a name alone", Ref{NamespacedName: "git_log"}, Match, "git_log", "git_log", ""},
		{"a name alone that is none", Ref{NamespacedName: "git_pull"}, Missing, "", "", "Tool not found: git_pull"},
		{"a hash alone", Ref{RefID: id("c")}, Match, "vcs_diff", "vcs_diff", ""},
		{"a hash alone of several tools", Ref{RefID: id("b")}, Ambiguous, "", "git_log", "may be any of git_log or vcs_log"},
		{"a hash alone of none", Ref{RefID: id("0")}, Missing, "", "", "Tool not found: sha256:000"},
		{"a tool without a hash is no match for one", Ref{NamespacedName: "vcs_odd", RefID: id("a")}, Split, "", "vcs_odd", "what it was is now called git_status"},
		{"the server has renamed it", Ref{NamespacedName: "git_state", RefID: id("0"), NamelessRefID: id("f")}, Alike, "", "", "Tool not found: git_state (git_stat may be what it has become"},
		{"no tool is like it", Ref{NamespacedName: "git_state", RefID: id("0"), NamelessRefID: id("0")}, Missing, "", "", "Tool not found: git_state"},
		{"nothing at all", Ref{}, Missing, "", "", "Tool not found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for stale, want := range map[bool]string{false: tt.strict, true: tt.stale} {
				r := x.Resolve(tt.ref, stale)
				if got := strings.Join(r.Tools, " "); got != want || r.Outcome != tt.outcome {
					t.Errorf("stale allowed %v: %v, uses %q; want %v, %q", stale, r.Outcome, got, tt.outcome, want)
				}
				if !strings.Contains(r.Problem, tt.says) || (r.Problem == "") != (tt.says == "") {
					t.Errorf("stale allowed %v: says %q, want %q", stale, r.Problem, tt.says)
				}
				label := map[bool]string{false: "SECURITY: ", true: "INSECURE: "}[stale]
				if odd := tt.outcome != Match && !tt.outcome.NotThere(); odd != strings.HasPrefix(r.Problem, label) {
					t.Errorf("stale allowed %v: says %q", stale, r.Problem)
				}
			}
		})
	}
}

// globbing is path.Match, which is enough for names without slashes.
type globbing string

func (g globbing) Match(name string) bool { ok, _ := path.Match(string(g), name); return ok }

func patterns(texts ...string) (all []Pattern) {
	for _, text := range texts {
		all = append(all, Pattern{Text: text, Glob: globbing(text)})
	}
	return all
}

func TestExpandTakesWhatIsThereAndNamesTheRest(t *testing.T) {
	x := NewIndex([]Tool{tool("git_status", "a"), tool("git_log", "b"), {Name: "long_1a2b", Full: "long_name", Bare: "name", RefID: id("d")},
		{Name: "x[1]", Full: "x[1]", RefID: id("e")}})
	e := x.Expand(&Set{Patterns: patterns("git_*", "long_name", "x[1]", "none*"),
		Tools: []Ref{{NamespacedName: "git_log", RefID: id("b")}, {NamespacedName: "git_status", RefID: id("0")}, {NamespacedName: "gone", RefID: id("9")}}}, false)
	var names []string
	for name := range e.Tools {
		names = append(names, name)
	}
	slices.Sort(names)
	if want := []string{"git_log", "git_status", "long_1a2b", "x[1]"}; !slices.Equal(names, want) {
		t.Errorf("tools %q, want %q", names, want)
	}
	warnings := strings.Join(e.Warnings(), "\n")
	for _, want := range []string{"SECURITY: the definition of git_status", "2 tools are not there"} {
		if !strings.Contains(warnings, want) {
			t.Errorf("no word of %q in\n%s", want, warnings)
		}
	}
	if len(e.Resolutions) != 7 || len(e.Warnings()) != 2 {
		t.Errorf("%d resolutions, %d warnings", len(e.Resolutions), len(e.Warnings()))
	}
}

func TestAToolThatTheSetNamesIsNotWhatAnotherHasBecome(t *testing.T) {
	alike := tool("git_b", "b")
	alike.NamelessRefID = id("f")
	set := Set{Tools: []Ref{{NamespacedName: "git_a", RefID: id("a"), NamelessRefID: id("f")}, {NamespacedName: "git_b", RefID: id("b"), NamelessRefID: id("f")}}}
	if got := NewIndex([]Tool{alike}).Expand(&set, false).Warnings(); len(got) != 1 || got[0] != "1 tool is not there" {
		t.Errorf("warnings %q", got)
	}
	other := alike
	other.Name, other.RefID = "git_c", id("c")
	if got := NewIndex([]Tool{alike, other}).Expand(&set, false).Warnings(); len(got) != 1 || !strings.HasPrefix(got[0], "a tool is not there (git_c may be") {
		t.Errorf("warnings %q", got)
	}
}

// What is broken is not used, and does not hide the rest.
func TestBrokenReferencesAndSets(t *testing.T) {
	x := NewIndex([]Tool{tool("git_a", "a"), tool("git_b", "b")})
	set := Set{Tools: []Ref{{NamespacedName: "git_a", Broken: "line 3"}, {NamespacedName: "git_b", RefID: id("b")}}}
	for _, stale := range []bool{false, true} {
		e := x.Expand(&set, stale)
		if e.Tools["git_a"] || !e.Tools["git_b"] || e.Resolutions[0].Problem != "SECURITY: the reference to git_a cannot be used, and is left out until the toolset is built again: line 3" ||
			!slices.Equal(e.Warnings(), []string{"SECURITY: a reference cannot be used, and is left out"}) {
			t.Errorf("got %+v, %q", e.Resolutions, e.Warnings())
		}
		e = x.Expand(&Set{Name: "s", Broken: "line 2", Tools: set.Tools}, stale)
		if len(e.Tools) > 0 || !slices.Equal(e.Warnings(), []string{"toolset s (.toolman/toolsets.json) cannot be used: line 2"}) {
			t.Errorf("got %v, %q", e.Tools, e.Warnings())
		}
	}
}

func TestNextVersion(t *testing.T) {
	for version, want := range map[string]string{"": "1.0.0", "1.0.0": "1.0.1", "0.9.9": "0.9.10", "2.1.3+linux": "2.1.4", "1.2.0-beta.1": "1.2.0",
		"1.2": "1.2", "v1.0.0": "v1.0.0", "1.0.99999999999999999999": "1.0.99999999999999999999"} {
		if got := NextVersion(version); got != want {
			t.Errorf("after %q: %q, want %q", version, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{"dev-essentials": true, "a": true, "A_1.x": true, "": false, "-a": false, "a b": false,
		"a\n": false, "toolset:a": false, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false} {
		if ValidName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	if full := id("f"); WithAlgorithm(full[7:]) != full || WithAlgorithm(full) != full || WithAlgorithm("abc") != "abc" {
		t.Error("a hash without its algorithm")
	}
	if ValidRefID("sha256:abc") || !ValidRefID(id("f")) || ValidRefID(id("f")+"\n") {
		t.Error("the form of references")
	}
}
