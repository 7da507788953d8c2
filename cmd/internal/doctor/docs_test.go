package doctor

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Users search the documentation for the IDs of findings.
func TestEveryFindingIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../toolman/docs/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile(`(?:problem|note|add)\((?:diagnosis\.\w+, )?"([a-z]+(?:-[a-z]+)*)"|ID: "([a-z-]+)"|(?:id|id, fix|id, summary|id, given, kept) :?= "([a-z-]+)"|(?m)^\t\{"([a-z]+-[a-z-]+)", ` + "`" + `|, "(client-[a-z-]+)"`)
	seen := map[string]bool{}
	for _, dir := range []string{".", "../diagnosis", "../report"} {
		files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil || strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, m := range pattern.FindAllStringSubmatch(string(text), -1) {
				seen[strings.Join(m[1:], "")] = true
			}
		}
	}
	if len(seen) < 55 {
		t.Errorf("only %d findings: %v", len(seen), seen)
	}
	for id := range seen {
		if !strings.Contains(string(page), "`"+id+"`") {
			t.Errorf("doctor.md does not have %s", id)
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| (`[a-z-]+`(?:, `[a-z-]+`)*) \\| [^|]+ \\|").FindAllStringSubmatch(string(page[strings.Index(string(page), "findings of servers"):]), -1) {
		for id := range strings.SplitSeq(m[1], ", ") {
			if id = strings.Trim(id, "`"); !seen[id] {
				t.Errorf("doctor.md has %s, which nothing finds", id)
			}
		}
	}
}

func TestOlder(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{{"2.1.197", "2.1.329", true}, {"2.1.329", "2.1.329", false}, {"2.2", "2.1.329", false}, {"2.1", "2.1.0", true}, {"10.0.0", "9.9.9", false}} {
		if got := older(tt.a, tt.b); got != tt.want {
			t.Errorf("older(%s, %s) is %v", tt.a, tt.b, got)
		}
	}
}
