package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestRules checks each rule of the ranking with the smallest catalog that shows it: which documents
// are found, and in which order. Documents that are as good as others come in the order of the
// catalog, so each rule has to put a later one before an earlier one.
func TestRules(t *testing.T) {
	padding := strings.Repeat("pad other filler ", 30)
	for _, tt := range []struct {
		rule, query string
		docs        []Document
		want        string // names
	}{
		{"a word counts more than its synonym", "erase", []Document{doc("a", "delete", ``), doc("a", "erase", ``)}, "erase delete"},
		{"a synonym is no more telling than the word", "fetch", []Document{doc("a", "obtain", ``), doc("a", "fetch", ``), doc("a", "fetch_x", ``), doc("a", "fetch_y", ``)}, "fetch fetch_x fetch_y obtain"},
		{"all words of the query count more than two of four that stand out", "blue whale green shark", []Document{
			doc("a", "one", `"title":"blue whale blue whale"`),
			doc("a", "two", `"inputSchema":{"properties":{"p":{"description":"`+strings.Repeat("blue whale green shark ", 6)+`"}}}`),
			doc("a", "three", `"description":"`+padding+`","inputSchema":{"properties":{"p":{"description":"green shark"}}}`)}, "two one three"},
		{"a name that the query has wholly counts more", "blue", []Document{doc("a", "blue_whale", ``), doc("a", "blue", ``)}, "blue blue_whale"},
		{"a name that the query has wholly counts more, without the words of its server", "blue", []Document{doc("pond", "blue_fish", ``), doc("shop", "blue_shop", ``)}, "blue_shop blue_fish"},
		{"or what most names of its server have", "click", []Document{
			doc("a", "click_all", ``), doc("w", "browser_type", ``), doc("w", "browser_close", ``), doc("w", "browser_open", ``), doc("w", "browser_click", ``)}, "browser_click click_all"},
		{"short texts count more than long ones", "whale", []Document{
			doc("a", "one", `"description":"x","inputSchema":{"properties":{"p":{"description":"whale `+padding+`"}}}`),
			doc("a", "two", `"description":"x","inputSchema":{"properties":{"p":{"description":"whale"}}}`)}, "two one"},
		{"a rare word counts more than a common one", "read whale", []Document{doc("a", "read_x", ``), doc("a", "read_y", ``), doc("a", "read_z", ``), doc("a", "whale_z", ``)}, "whale_z read_x read_y read_z"},
		{"repetition counts less and less", "whale blue", []Document{
			doc("a", "whale", `"title":"whale whale whale whale","description":"whale whale whale whale whale whale"`), doc("a", "whale_blue", ``)}, "whale_blue whale"},
		{"words without meaning do not count beside others", "how do i use the whale", []Document{doc("a", "use_how", ``), doc("a", "whale", ``)}, "whale"},
		{"they count alone", "who am i", []Document{doc("a", "x", ``), doc("a", "who_am_i", ``)}, "who_am_i"},
		{"in prose they never count", "who", []Document{doc("a", "x", `"description":"who"`), doc("a", "whose", ``), doc("a", "who", ``)}, "who"},
		{"of misspelt words only the nearest are meant", "wholesalf", []Document{doc("a", "wholesome", ``), doc("a", "wholesale", ``)}, "wholesale"},
		{"two wrong letters are as far as it goes", "whoxexalxs", []Document{doc("a", "wholesales", ``)}, ""},
		{"a short word may have one wrong letter", "whaxe", []Document{doc("a", "whale", ``)}, "whale"},
		{"and not two", "wxaxe", []Document{doc("a", "whale", ``)}, ""},
		{"a word of two letters none", "wq", []Document{doc("a", "wx", ``)}, ""},
		{"the start of a word is enough", "calend", []Document{doc("a", "calendars_of_all", ``), doc("a", "x", ``)}, "calendars_of_all"},
		{"but not a short one", "cal", []Document{doc("a", "calendars", ``)}, ""},
		{"words beyond the 32nd do not count", strings.Repeat("nothing ", 32) + "whale", []Document{doc("a", "whale", ``)}, ""},
		{"up to it they do", strings.Repeat("nothing ", 31) + "whale", []Document{doc("a", "whale", ``)}, "whale"},
		{"bytes beyond the 1,000th do not count", strings.Repeat(" ", 1000) + "whale", []Document{doc("a", "whale", ``)}, ""},
		{"up to it they do", strings.Repeat(" ", 995) + "whale", []Document{doc("a", "whale", ``)}, "whale"},
	} {
		for i := range tt.docs {
			tt.docs[i].Definition = []byte(strings.Replace(string(tt.docs[i].Definition), ",}", "}", 1))
		}
		var names []string
		for _, hit := range New(tt.docs).Search(tt.query, 5, nil) {
			names = append(names, tt.docs[hit.Doc].Name)
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s: %.40q found %q, want %q", tt.rule, tt.query, got, tt.want)
		}
	}
}

// TestMisspeltWordsAreBounded checks that one that is like very many words costs as much as any.
func TestMisspeltWordsAreBounded(t *testing.T) {
	var docs []Document
	for i := range 26 {
		for j := range 26 {
			docs = append(docs, doc("a", fmt.Sprintf("whale%c%c", 'a'+i, 'a'+j), `"description":"x"`))
		}
	}
	x := New(docs)
	if near := x.alike("whaleqqqqq"); len(near) != 0 {
		t.Errorf("three letters too many: %d words", len(near))
	}
	if near := x.alike("whalez"); len(near) != maxAlike {
		t.Errorf("of one letter: %d words, want %d", len(near), maxAlike)
	}
	if near := x.alike("whal"); len(near) != 2*maxAlike || slices.ContainsFunc(near, func(n nearWord) bool { return n.weight != prefixWeight }) {
		t.Errorf("of the start: %v", near)
	}
}
