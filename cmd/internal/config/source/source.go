package source

import (
	"bytes"
	"cmp"
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

// FormatOf returns "json" or "toml": by the extension of a file or, without one of these, by the
// text. No TOML begins with a brace.
func FormatOf(path string, text []byte) string {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, bom), " \t\r\n")
	switch ext := filepath.Ext(path); {
	case strings.EqualFold(ext, ".json"), !strings.EqualFold(ext, ".toml") && bytes.HasPrefix(text, []byte("{")):
		return "json"
	}
	return "toml"
}

var bom = []byte("\xef\xbb\xbf")

// Parse parses text in either format.
func Parse(format string, text []byte) (Node, *Problem) {
	text = bytes.TrimPrefix(text, bom)
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
	if info, statErr := os.Stat(path); err != nil && statErr == nil && info.IsDir() {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("is a directory")} // Windows does not say so
	}
	if err == nil && int64(len(text)) > limit {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is longer than %d bytes", limit)}
	}
	return text, err
}

// A Source is where a configuration is.
type Source struct {
	Path   string // of the file, or the name of a text that is in no file
	Text   []byte // if not nil, the configuration: it is in no file, or in one that can be read only once
	Format string // of Text; "" is by Path and Text
	Dir    string // for Text: the folder that its paths are relative to, absolute
}

// Virtual reports whether there is no file that can be read again.
func (s Source) Virtual() bool { return s.Text != nil }

// A Document is a configuration as a tree.
type Document struct {
	Root   Node
	Format string // "toml" or "json"
}

// Read reads and parses the configuration.
func (s Source) Read() (Document, error) {
	text := s.Text
	if !s.Virtual() {
		var err error
		if text, err = ReadText(s.Path); err != nil {
			return Document{}, err
		}
	} else if len(text) > MaxBytes {
		return Document{}, &Error{Problems: []Problem{{File: s.Path, Msg: fmt.Sprintf("it is longer than %d bytes", MaxBytes), Hint: "put a part into files, and refer to them with ${file:…}"}}}
	}
	d := Document{Format: cmp.Or(s.Format, FormatOf(s.Path, text))}
	root, problem := Parse(d.Format, text)
	if problem != nil {
		problem.File = s.Path
		return Document{}, &Error{Problems: []Problem{*problem}}
	}
	d.Root = root
	return d, nil
}

// ReadText returns the text of the configuration at path.
func ReadText(path string) ([]byte, error) {
	text, err := Read(path, MaxBytes)
	if err != nil {
		p := Problem{File: path, Msg: "cannot be read: " + Reason(err)}
		if errors.Is(err, fs.ErrNotExist) {
			p.Hint = "check the name, or create it, for example:\n\n" + Smallest
		}
		return nil, &Error{Problems: []Problem{p}}
	}
	return text, nil
}

// Smallest is the smallest useful tools.toml.
const Smallest = `    active_toolsets = ["fs_read*"]

    [[servers]]
    namespace = "fs"
    command = "npx -y @modelcontextprotocol/server-filesystem ."
`

// Reason returns an error's text without the path and the system call, which the message already
// has. That of a missing file is the same on all systems.
func Reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "no such file or directory"
	}
	return strings.TrimSuffix(err.Error(), ".") // Windows ends them
}
