package bridge

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

//go:embed docs.css
var style string

// page makes the description a page that needs nothing else. It is not a template's: those
// find methods by name, for which the linker would keep every exported method in
// the program.
func page() []byte {
	var d description
	if err := json.Unmarshal([]byte(openapi), &d); err != nil {
		panic("openapi.json: " + err.Error()) // which is in the program
	}
	p := pageWriter{names: regexp.MustCompile(`#/components/schemas/(\w+)`),
		text: strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")} // package html is initialized at every start
	p.head(&d)
	for path, op := range d.operations() {
		p.operation(path, op)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		p.write("<section id=%q>\n<h2>%s</h2>\n", name, name)
		p.example(d.Components.Schemas[name])
		p.write("</section>\n")
	}
	p.write("</main>\n</body>\n</html>\n")
	return p.Bytes()
}

// A pageWriter writes the page.
type pageWriter struct {
	bytes.Buffer
	names *regexp.Regexp    // of schemas that are referred to
	text  *strings.Replacer // writes text as HTML
}

// write writes HTML with values in it, which are text.
func (p *pageWriter) write(format string, values ...string) {
	escaped := make([]any, len(values))
	for i, v := range values {
		escaped[i] = p.text.Replace(v)
	}
	fmt.Fprintf(p, strings.ReplaceAll(format, "%q", `"%s"`), escaped...)
}

func (p *pageWriter) head(d *description) {
	p.write("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	p.write("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>%s</title>\n", d.Info.Title)
	p.WriteString("<style>" + style + "</style>\n")
	p.write("</head>\n<body>\n<nav>\n<strong><a href=\"#top\">%s</a></strong>\n<p>Requests</p>\n<ul>\n", d.Info.Title)
	for path, op := range d.operations() {
		p.write("<li><a href=%q><code>", "#"+op.OperationID)
		p.method(path, op)
		p.write("</code></a></li>\n")
	}
	p.write("</ul>\n<p>Objects</p>\n<ul>\n")
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		p.write("<li><a href=%q>%s</a></li>\n", "#"+name, name)
	}
	p.write("</ul>\n</nav>\n<main id=\"top\">\n<h1>%s</h1>\n<p>%s</p>\n", d.Info.Title, d.Info.Description)
	p.write("<p>The same for programs: <a href=\"/openapi.json\">/openapi.json</a>.</p>\n")
}

func (p *pageWriter) method(path string, op *operation) {
	p.write("<span class=%q>%s</span> %s", "method "+op.method, op.method, path)
}

func (p *pageWriter) operation(path string, op *operation) {
	p.write("<section id=%q>\n<h2><code>", op.OperationID)
	p.method(path, op)
	p.write("</code></h2>\n<p><strong>%s.</strong> %s</p>\n", op.Summary, op.Description)
	p.parameters(op.Parameters)
	for _, kind := range slices.Sorted(maps.Keys(op.RequestBody.Content)) {
		body := op.RequestBody.Content[kind]
		p.write("<h3>Body</h3>\n<p><code>%s</code>", kind)
		p.links(body)
		p.write(", for example:</p>\n")
		p.example(body.Example)
	}
	p.write("<h3>Answers</h3>\n<table class=\"status\">\n")
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		r := op.Responses[status]
		p.write("<tr><td>%s</td><td>%s", status, r.Description)
		for _, kind := range slices.Sorted(maps.Keys(r.Content)) {
			p.write(" <span class=\"soft\">%s", kind)
			p.links(r.Content[kind])
			p.write("</span>")
		}
		p.write("</td></tr>\n")
	}
	p.write("</table>\n</section>\n")
}

func (p *pageWriter) parameters(all []parameter) {
	if len(all) == 0 {
		return
	}
	p.write("<h3>Parameters</h3>\n<table>\n")
	for _, one := range all {
		p.write("<tr><td><code>%s</code><br><span class=\"soft\">%s", one.Name, one.In)
		if one.Schema.Type != "" {
			p.write(", %s", one.Schema.Type)
		}
		p.write("</span></td><td>%s", one.Description)
		for i, v := range one.Schema.Enum {
			p.write([]string{" One of ", ", "}[min(i, 1)]+"<code>%s</code>", v)
		}
		if len(one.Schema.Enum) > 0 {
			p.write(".")
		}
		if len(one.Schema.Default) > 0 {
			p.write(" Without it: <code>%s</code>.", string(one.Schema.Default))
		}
		p.write("</td></tr>\n")
	}
	p.write("</table>\n")
}

// links writes the schemas that the media's own refers to.
func (p *pageWriter) links(m media) {
	for _, found := range p.names.FindAllSubmatch(m.Schema, -1) {
		p.write(", <a href=%q>%s</a>", "#"+string(found[1]), string(found[1]))
	}
}

func (p *pageWriter) example(text json.RawMessage) {
	var out bytes.Buffer
	if json.Indent(&out, text, "", "  ") == nil {
		p.write("<pre>%s</pre>\n", out.String())
	}
}
