package edit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toolman/cmd/internal/config/source"
)

// rest returns all of a file but one entry as text, for comparison: without comments and layout,
// and without a container on the path to the entry that is empty.
func (s Spot) rest(text []byte, name string) (string, *source.Problem) {
	root, _, p := at(s.Format, text, maxCompared)
	if p != nil {
		return "", p
	}
	return s.restOf(root, s.Path, name, true), nil
}

// restOf returns the text for one value. onPath says that it is on the path to the entry, and path
// how it goes on.
func (s Spot) restOf(n source.Node, path []string, name string, onPath bool) string {
	var b strings.Builder
	switch value := n.Value.(type) {
	case []source.Member:
		for _, m := range slices.SortedStableFunc(slices.Values(value), func(x, y source.Member) int { return cmp.Compare(x.Key, y.Key) }) {
			below := onPath && len(path) > 0 && path[0] == m.Key
			inner := ""
			switch {
			case onPath && len(path) == 0 && m.Key == name:
				continue
			case below:
				inner = s.restOf(m.Node, path[1:], name, true)
			default:
				inner = s.restOf(m.Node, nil, "", false)
			}
			if inner != "" || !below {
				b.WriteString(strconv.Quote(m.Key) + ":" + inner + ",")
			}
		}
	case []source.Node:
		for _, e := range value {
			if members, ok := e.Value.([]source.Member); ok && onPath && s.List && nameOf(members) == name {
				continue
			}
			b.WriteString(s.restOf(e, nil, "", false) + ",")
		}
	default:
		if n.Value == nil && onPath {
			return ""
		}
		return fmt.Sprintf("%T:%q", n.Value, fmt.Sprint(n.Value))
	}
	if b.Len() == 0 && onPath {
		return ""
	}
	return "{" + b.String() + "}"
}
