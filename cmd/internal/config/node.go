package config

// maxDepth bounds the nesting of a file. Four levels are in use: servers, one of them, its env, a variable.
const maxDepth = 16

// A node is a value of either format and the line it stands on: its key's line, or a table header's.
type node struct {
	line int
	// value is string, int64, float64, bool, []node (an array), []member (a table, in the file's order),
	// nil (JSON's null) or something else that is never valid here (TOML's dates).
	value any
}

// A member is one key of a table and its value.
type member struct {
	key string
	node
}

// kind names what n is, for messages.
func (n node) kind() string {
	switch n.value.(type) {
	case string:
		return "a string"
	case int64, float64:
		return "a number"
	case bool:
		return "a boolean"
	case []node:
		return "an array"
	case []member:
		return "a table"
	case nil:
		return "null"
	default:
		return "a date or time"
	}
}

// tooDeep is the problem of a file nested deeper than maxDepth.
func tooDeep(line int) *Problem {
	return &Problem{Line: line, Msg: "values are nested too deep", Hint: "no key takes more than a table of strings"}
}
