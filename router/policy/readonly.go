package policy

// ReadOnlyRules are what a configuration file says about tools that only read and do not say so:
// names and globs, by the name of the server. The names are the server's own.
type ReadOnlyRules struct {
	File  string // for messages
	Tools map[string]List
}

// Declared are compiled ReadOnlyRules. A nil *Declared declares nothing.
type Declared struct {
	file  string
	tools map[string]list
}

// Compile compiles the rules.
func (r ReadOnlyRules) Compile() (*Declared, error) {
	if len(r.Tools) == 0 {
		return nil, nil
	}
	tools, err := compileAll(r.Tools)
	return &Declared{r.File, tools}, err
}

// ReadOnly reports whether the rules say that a server's tool only reads.
func (d *Declared) ReadOnly(server, tool string) bool {
	return d != nil && d.tools[server].has(tool)
}

// Idle returns the entries for a server that match none of its tools, with their places. Most
// likely they are misspelled.
func (d *Declared) Idle(server string, tools []Item) (idle []string) {
	if d == nil {
		return nil
	}
	for i := range d.tools[server].patterns {
		p := &d.tools[server].patterns[i]
		used := false
		for _, it := range tools {
			used = used || p.match(it.Name)
		}
		if !used {
			idle = append(idle, p.in(d.file))
		}
	}
	return idle
}
