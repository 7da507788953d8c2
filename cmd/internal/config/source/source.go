package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

const (
	// MaxBytes is the longest configuration, and the longest file that a ${file:…} may name.
	MaxBytes = 1 << 20

	// maxDepth bounds the nesting of a file. It uses four levels: servers, one of them, its env, a
	// variable.
	maxDepth = 16
)

// A Node is a value of either format and its line: that of its key, or of a table's header.
type Node struct {
	Line int
	// Value is a string, an int64, a float64, a bool, a []Node (an array), a []Member (a table, in
	// the order of the file), nil (JSON's null) or something else that is never valid here (a TOML
	// date).
	Value any
}

// A Member is one key of a table and its value.
type Member struct {
	Key string
	Node
}

// Kind names the kind of a value, for messages.
func (n Node) Kind() string {
	switch n.Value.(type) {
	case string:
		return "a string"
	case int64, float64:
		return "a number"
	case bool:
		return "a boolean"
	case []Node:
		return "an array"
	case []Member:
		return "a table"
	case nil:
		return "null"
	default:
		return "a date or time"
	}
}

// FormatOf returns "json" for a file with that extension, otherwise "toml".
func FormatOf(path string) string {
	if strings.EqualFold(filepath.Ext(path), ".json") {
		return "json"
	}
	return "toml"
}

// Parse parses text in either format.
func Parse(format string, text []byte) (Node, *Problem) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(text) {
		line := 1
		for rest := range bytes.Lines(text) {
			if !utf8.Valid(rest) {
				break
			}
			line++
		}
		return Node{}, &Problem{Line: line, Msg: "the text is not UTF-8", Hint: "save the file as UTF-8"}
	}
	if format == "json" {
		return parseJSON(text)
	}
	return parseTOML(string(text))
}

// tooDeep is the problem of a file nested deeper than maxDepth.
func tooDeep(line int) *Problem {
	return &Problem{Line: line, Msg: "values are nested too deep", Hint: "no key takes more than a table of strings"}
}

// Read returns the content of the file at path, which may be a pipe. A file of more than limit
// bytes is an error.
func Read(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is longer than %d bytes", limit)}
	}
	return text, err
}

// ReadTree reads and parses the configuration at path.
func ReadTree(path string) (Node, error) {
	text, err := Read(path, MaxBytes)
	if err != nil {
		p := Problem{File: path, Msg: "cannot be read: " + Reason(err)}
		if errors.Is(err, fs.ErrNotExist) {
			p.Hint = "check the name, or create it, for example:\n\n" + Smallest
		}
		return Node{}, &Error{Problems: []Problem{p}}
	}
	return ParseFile(path, text)
}

// ParseFile parses the text of the file at path.
func ParseFile(path string, text []byte) (Node, error) {
	root, problem := Parse(FormatOf(path), text)
	if problem != nil {
		problem.File = path
		return Node{}, &Error{Problems: []Problem{*problem}}
	}
	return root, nil
}

// Smallest is the smallest useful tools.toml.
const Smallest = `    active_toolsets = ["fs_read*"]

    [[servers]]
    namespace = "fs"
    command = "npx -y @modelcontextprotocol/server-filesystem ."
`

// Reason returns an error's text without the path and the system call, which the message already
// has.
func Reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return err.Error()
}
