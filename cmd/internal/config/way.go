package config

import (
	"slices"
	"strings"
)

// A way is how toolman gets to a server: it starts it, or reaches one that runs already.
type way struct {
	key     string   // what says it; a server has one of these
	of      []string // further keys, which say something of that one
	example string
}

func ways() []way {
	return []way{
		{"command", []string{"env", "cwd", "inherit_env"}, exampleCommand},
		{"url", []string{"headers", "ca_file", "oauth"}, exampleURL},
		{"socket", nil, exampleSocket},
	}
}

// oneWay notes a server without any way, with several, or with keys of others.
func (t table) oneWay() {
	all := ways()
	var given []way
	for _, w := range all {
		if t.has(w.key) {
			given = append(given, w)
		}
	}
	switch len(given) {
	case 0:
		t.noWay()
	case 1:
		t.refuseBeside(given[0])
	default:
		var keys []string
		for _, w := range given {
			keys = append(keys, "a "+w.key)
		}
		last := len(keys) - 1
		t.d.fail(t.values[given[last].key].line, "give the server one of them", "this server has %s and %s", strings.Join(keys[:last], ", "), keys[last])
	}
	t.noteWays(all)
}

func (t table) noWay() {
	var keys, examples []string
	for _, w := range ways() {
		keys = append(keys, w.key)
		examples = append(examples, t.d.write(w.key, w.example))
	}
	t.d.fail(t.line, "write "+strings.Join(examples, " or "), "this server has neither %s", strings.Join(keys, " nor "))
}

// refuseBeside notes keys of other ways than the one that a server has.
func (t table) refuseBeside(has way) {
	for _, w := range ways() {
		for _, key := range w.of {
			if w.key != has.key && t.has(key) {
				t.d.fail(t.values[key].line, "take it out", "%s is for a server with a %s, and this one has a %s", key, w.key, has.key)
			}
		}
	}
}

// noteWays is oneWay for the schema.
func (t table) noteWays(all []way) {
	var keys []string
	for i, w := range all {
		keys = append(keys, w.key)
		for _, other := range all[i+1:] {
			t.apart(w.key, other.key)
		}
		for _, other := range slices.Concat(all[:i], all[i+1:]) {
			for _, key := range other.of {
				t.apart(key, w.key)
			}
		}
	}
	t.needOne(keys...)
}
