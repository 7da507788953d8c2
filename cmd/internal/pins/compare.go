package pins

import "maps"

// A Change is an item whose pin is not what the item is now.
type Change struct {
	Key
	Old, New *Pin // nil: it had none; it is gone
}

// Compare returns what has to change in old to make it now, in the order of the file. That an item has come to another
// server is no change: which program serves it is tools.toml's to say.
func Compare(old, now Set) []Change {
	all := maps.Clone(old)
	if all == nil {
		all = Set{}
	}
	maps.Copy(all, now)
	var changes []Change
	for _, k := range all.Keys() {
		was, had := old[k]
		is, has := now[k]
		switch {
		case !had:
			changes = append(changes, Change{k, nil, &is})
		case !has:
			changes = append(changes, Change{k, &was, nil})
		case was.RefID != is.RefID:
			changes = append(changes, Change{k, &was, &is})
		}
	}
	return changes
}

// Word says what has become of the item: "new", "changed" or "gone".
func (c Change) Word() string {
	switch {
	case c.Old == nil:
		return "new"
	case c.New == nil:
		return "gone"
	}
	return "changed"
}

// Mark is Word in one character: +, ~ or -.
func (c Change) Mark() string {
	switch {
	case c.Old == nil:
		return "+"
	case c.New == nil:
		return "-"
	}
	return "~"
}
