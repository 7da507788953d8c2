// Package docs holds the pages of the documentation, which "toolman help TOPIC" prints.
//
// A page is a Markdown file beside this one. Its name without ".md" is the topic. Its first line
// is a heading of the form "# Title: summary". The pages begin with tasks and end with the
// reference. Package fixtures/readme runs their commands and checks their links.
package docs

import (
	"embed"
	"strings"
)

//go:embed *.md
var pages embed.FS

// A Topic is one page.
type Topic struct {
	Name    string // as in "toolman help NAME"
	Summary string // the part of the page's heading after the colon
}

// Topics returns all topics, sorted by name.
func Topics() []Topic {
	files, err := pages.ReadDir(".")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var all []Topic
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".md")
		text, _ := Page(name)
		heading, _, _ := strings.Cut(text, "\n")
		_, summary, _ := strings.Cut(heading, ": ")
		all = append(all, Topic{name, summary})
	}
	return all
}

// Page returns the text of a topic's page, and whether there is such a topic.
func Page(topic string) (text string, ok bool) {
	page, err := pages.ReadFile(topic + ".md")
	return string(page), err == nil
}
