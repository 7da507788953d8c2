package importer

import (
	"strings"

	"toolman/cmd/internal/toolsfile"
	"toolman/mcpwire/sanitize"
)

// Text returns the text of the tools.toml with the servers of the plan that it does not have yet.
func (p *Plan) Text() ([]byte, error) {
	var servers []toolsfile.Server
	var names []string
	for _, s := range p.Servers {
		if s.Known {
			continue
		}
		one := s.Server
		one.Comment = append([]string{"From " + s.From() + "."}, s.Notes...)
		servers, names = append(servers, one), append(names, s.Namespace)
	}
	f := p.Target
	if f.Text == nil {
		f.Text = toolsfile.New(names...)
	}
	return f.Append(servers...)
}

// New returns the servers that the tools.toml does not have yet.
func (p *Plan) New() (all []*Server) {
	for _, s := range p.Servers {
		if !s.Known {
			all = append(all, s)
		}
	}
	return all
}

// Leave leaves a server out.
func (p *Plan) Leave(s *Server, why string) {
	var rest []*Server
	for _, other := range p.Servers {
		if other != s {
			rest = append(rest, other)
		}
	}
	p.Servers = rest
	for _, e := range s.Entries {
		p.Skipped = append(p.Skipped, Skipped{e, why})
	}
}

// Summary returns how a server is started or reached, on one line and without secrets.
func (s *Server) Summary() string {
	words := append([]string{s.Command}, s.Args...)
	if s.Command == "" {
		words = []string{s.URL}
	}
	return sanitize.First(sanitize.Line(strings.Join(words, " ")), 80)
}
