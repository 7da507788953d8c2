package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tools are a small catalog: server, name, and the rest of the definition.
var tools = []Document{
	doc("fs", "read_text_file", `"description":"Read the complete contents of a file","inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"Where it is"}}}`),
	doc("fs", "list_directory", `"description":"Get a detailed listing of all files in a directory"`),
	doc("fs", "create_directory", `"description":"Create a new directory"`),
	doc("github", "create_pull_request", `"description":"Create a new pull request in a repository"`),
	doc("github", "create_pull_request_review", `"description":"Create a review on a pull request"`),
	doc("github", "search_repositories", `"description":"Search for repositories"`),
	doc("web", "getUserProfile", `"title":"Profile","description":"About a person"`),
	doc("web", "browser_take_screenshot", `"description":"Take a screenshot of the current page"`),
	doc("web", "browser_click", `"description":"Perform a click","inputSchema":{"type":"object","properties":{"doubleClick":{"type":"boolean"},"modifiers":{"type":"array","items":{"enum":["Alt","Control"]}}}}`),
	doc("time", "convert_timezone", `"description":"Convert a time to somewhere else"`),
	doc("shop", "löschen_über", `"description":"Entfernt Einträge aus dem Warenkorb"`),
	doc("shop", "订单查询", `"description":"查询客户的订单状态"`),
	doc("text", "summarise", `"description":"","arguments":[{"name":"style","description":"formal or \u006cively"}]`),
	doc("id", "whoami", `"description":"Identify the account"`),
}

func doc(server, name, rest string) Document {
	return Document{server, name, []byte(`{"name":"` + name + `",` + rest + `}`)}
}

func TestSearch(t *testing.T) {
	x := New(tools)
	for query, want := range map[string]string{
		"create pull request":           "create_pull_request",        // not the longer name
		"review a pull request":         "create_pull_request_review", // stop words do not matter
		"reviewing pull requests":       "create_pull_request_review", // stems
		"user profile":                  "getUserProfile",             // camel case
		"make a new folder":             "create_directory",           // synonyms
		"enumerate files":               "list_directory",
		"scrennshot":                    "browser_take_screenshot", // one letter too many
		"serach repositry":              "search_repositories",     // swapped letters, and one missing
		"repo":                          "search_repositories",
		"time zone":                     "convert_timezone", // written as one word
		"who am i":                      "whoami",
		"double click":                  "browser_click", // the name of a parameter
		"alt":                           "browser_click", // a value of one
		"lively style":                  "summarise",     // arguments of a prompt
		"Löschen":                       "löschen_über",  // other letters
		"ÜBER":                          "löschen_über",
		"订单":                            "订单查询",
		"READ FILE":                     "read_text_file",
		"what is in the file at a path": "read_text_file",
	} {
		hits := x.Search(query, 5, nil)
		if len(hits) == 0 || tools[hits[0].Doc].Name != want {
			t.Errorf("%q found %s, not %s first", query, found(hits), want)
		}
	}
	for _, query := range []string{"", "  ", "quantum chromodynamics", "\xff\xfe", "''\"\\", "zz"} {
		if hits := x.Search(query, 5, nil); len(hits) > 0 {
			t.Errorf("%q found %s", query, found(hits))
		}
	}
}

func found(hits []Hit) (names []string) {
	for _, hit := range hits {
		names = append(names, tools[hit.Doc].Name)
	}
	return names
}

// TestExactBeatsTypo checks that a word that is spelt right is not replaced by its neighbours.
func TestExactBeatsTypo(t *testing.T) {
	docs := []Document{doc("a", "form", `"description":"x"`), doc("a", "farm", `"description":"x"`), doc("a", "firm", `"description":"x"`)}
	x := New(docs)
	if hits := x.Search("farm", 5, nil); len(hits) != 1 || hits[0].Doc != 1 {
		t.Errorf("found %v", hits)
	}
	exact, typo := x.Search("farm", 1, nil)[0].Score, x.Search("farrm", 1, nil)[0].Score
	if typo >= exact {
		t.Errorf("a typo has the score %v, the word itself %v", typo, exact)
	}
}

// TestSearchIsLimited checks the limits of results, and the choice of documents.
func TestSearchIsLimited(t *testing.T) {
	var docs []Document
	for i := range 500 {
		docs = append(docs, doc("s", fmt.Sprintf("read_%d", i), `"description":"Read"`))
	}
	x := New(docs)
	for limit, want := range map[int]int{-1: 0, 0: 0, 1: 1, 7: 7, 1000: maxHits} {
		if hits := x.Search("read", limit, nil); len(hits) != want {
			t.Errorf("limit %d: %d hits", limit, len(hits))
		}
	}
	hits := x.Search("read", 10, func(doc int) bool { return doc >= 495 })
	if len(hits) != 5 || !slices.IsSortedFunc(hits, func(a, b Hit) int { return a.Doc - b.Doc }) {
		t.Errorf("allowed are 495 to 499, found %v", hits)
	}
	if hits := x.Search("read 42", 1, nil); len(hits) != 1 || hits[0].Doc != 42 {
		t.Errorf("found %v", hits)
	}
	if hits := New(nil).Search("read", 5, nil); len(hits) != 0 {
		t.Errorf("found %v in nothing", hits)
	}
	x.Search(strings.Repeat("abcdefgh ", 100_000), 5, nil) // in no time
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"read_text_file":       "read text file",
		"getHTMLPage":          "get html page",
		"kebab-case.dots/URIs": "kebab case dots uris",
		"sha256sum":            "sha 256 sum",
		"API-post-search":      "api post search",
		"Größe ÄNDERN":         "größe ändern",
		"订单 ok":                "订 单 ok",
		"e\u0301te\u0301":      "e\u0301te\u0301",
		"  ":                   "",
		"file:///a_b":          "file a b",
	} {
		var got []string
		new(splitter).split([]byte(text), func(word []byte) { got = append(got, string(word)) })
		if strings.Join(got, " ") != want {
			t.Errorf("%q is split into %q", text, got)
		}
	}
}

// TestStem compares with what the reference implementation of Porter2 makes of these words.
func TestStem(t *testing.T) {
	for word, want := range map[string]string{
		"files": "file", "directories": "directori", "directory": "directori", "running": "run", "created": "creat", "creates": "creat",
		"create": "creat", "listing": "list", "listed": "list", "queries": "queri", "query": "queri", "relational": "relat", "hopping": "hop",
		"hoping": "hope", "ponies": "poni", "caresses": "caress", "ties": "tie", "gas": "gas", "kiwis": "kiwi", "agreed": "agre", "feed": "feed",
		"generous": "generous", "generate": "generat", "communication": "communic", "happily": "happili", "say": "say", "cry": "cri", "yes": "yes",
		"adoption": "adopt", "adjustment": "adjust", "controlled": "control", "sensational": "sensat", "hopefulness": "hope", "formalize": "formal",
		"over": "over", "a": "a", "is": "is", "größe": "größe", "2nd": "2nd",
	} {
		if got := string(stem([]byte(word))); got != want {
			t.Errorf("the stem of %s is %s, not %s", word, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"file", "file", 0}, {"fiel", "file", 1}, {"fille", "file", 1}, {"fle", "file", 1}, {"pile", "file", 1},
		{"serach", "search", 1}, {"repositry", "repository", 1}, {"abcdef", "ghijkl", 3}, {strings.Repeat("a", 99), "a", 3}} {
		if got := distance(c.a, c.b, 2); got != c.want {
			t.Errorf("distance of %q and %q: %d, not %d", c.a, c.b, got, c.want)
		}
	}
}

// TestAllocationsOfSearch bounds what ten thousand tools and a search among them allocate: two
// for each new word, and next to nothing besides.
func TestAllocationsOfSearch(t *testing.T) {
	docs := many(10_000)
	var x *Index
	if n := testing.AllocsPerRun(1, func() { x = New(docs) }); n > 25_000 {
		t.Errorf("the index of %d tools makes %.0f allocations", len(docs), n)
	}
	if n := testing.AllocsPerRun(10, func() { x.Search("delte the repositry of a custmer", 10, nil) }); n > 200 {
		t.Errorf("a search makes %.0f allocations", n)
	}
}

// many returns documents with words that differ.
func many(n int) []Document {
	verbs, nouns := []string{"create", "list", "delete", "update", "get"}, []string{"user", "repository", "page", "issue", "message", "order", "branch"}
	docs := make([]Document, n)
	for i := range docs {
		verb, noun := verbs[i%len(verbs)], nouns[i%len(nouns)]
		docs[i] = doc(fmt.Sprintf("server%d", i/50), fmt.Sprintf("%s_%s_%d", verb, noun, i),
			fmt.Sprintf(`"title":"%s a %s","description":"Use this to %s the %s number %d of a customer. It returns what there is, or an error with the reason.",
			"inputSchema":{"type":"object","properties":{"%sId":{"type":"string","description":"Identifies the %s"},"limit":{"type":"integer","description":"At most so many"},
			"word%d":{"type":"string"}},"required":["limit"]}`, verb, noun, verb, noun, i, noun, noun, i%3000))
	}
	return docs
}

func BenchmarkIndex10000(b *testing.B) {
	docs := many(10_000)
	for b.Loop() {
		New(docs)
	}
}

func BenchmarkSearch10000(b *testing.B) {
	x := New(many(10_000))
	for b.Loop() {
		x.Search("delte the repositry of a custmer", 10, nil)
	}
}

// FuzzSearch checks that no definition and no query is too strange.
func FuzzSearch(f *testing.F) {
	for i := range tools {
		f.Add(string(tools[i].Definition), "read file")
	}
	f.Add(`{"description":"\`, "x")
	f.Add(`{"inputSchema":{"properties":{"a":[`, "\xff")
	f.Add(`{"title":"a\ud800\u12","arguments":[{},{"name":1},,"x"]}`, "größe 订")
	f.Fuzz(func(t *testing.T, definition, query string) {
		docs := append(slices.Clone(tools), Document{"s", query, []byte(definition)})
		hits := New(docs).Search(query, 5, nil)
		if len(hits) > 5 {
			t.Errorf("%d hits", len(hits))
		}
		for _, hit := range hits {
			if hit.Doc < 0 || hit.Doc >= len(docs) || !(hit.Score > 0) {
				t.Errorf("hit %v", hit)
			}
		}
	})
}
