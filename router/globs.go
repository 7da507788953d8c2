package router

import "github.com/gobwas/glob"

// Globs are the patterns of active_toolsets. An item that any of them matches
// is active at start.
type Globs []*glob.Pattern

// CompileGlobs compiles patterns. There are no separators: * matches any
// characters.
func CompileGlobs(patterns []string) (Globs, error) {
	globs := make(Globs, 0, len(patterns))
	for _, p := range patterns {
		g, err := glob.Compile(p)
		if err != nil {
			return nil, err
		}
		globs = append(globs, g)
	}
	return globs, nil
}

func (g Globs) match(name string) bool {
	for _, one := range g {
		if one.Match(name) {
			return true
		}
	}
	return false
}
