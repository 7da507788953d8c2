package config

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

// maxFileBytes bounds the configuration and every file that a ${file:…} names.
const maxFileBytes = 1 << 20

var errTooLong = fmt.Errorf("it is longer than %d bytes", maxFileBytes)

// read returns what the file at path holds, or why it cannot. A path that names a pipe is fine.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFileBytes {
		return nil, errTooLong
	}
	return text, nil
}

// unreadable is the Error for a configuration that cannot be read.
func unreadable(path string, err error) *Error {
	p := Problem{File: path, Msg: "cannot be read: " + reason(err)}
	if errors.Is(err, fs.ErrNotExist) {
		p.Hint = "check the name, or create it, for example:\n\n" + smallest
	}
	return &Error{Problems: []Problem{p}}
}

// reason is err without the path and the system call: both are in the message already.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return err.Error()
}

// formatOf goes by the file's extension.
func formatOf(path string) string {
	if strings.EqualFold(filepath.Ext(path), ".json") {
		return "json"
	}
	return "toml"
}

// parseText reads either format into a tree, or says what is wrong with it as TOML or JSON.
func parseText(format string, text []byte) (node, *Problem) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if i := invalidUTF8(text); i >= 0 {
		line := 1 + bytes.Count(text[:i], []byte("\n"))
		return node{}, &Problem{Line: line, Msg: "the text is not UTF-8", Hint: "save the file as UTF-8"}
	}
	if format == "json" {
		return parseJSON(text)
	}
	return parseTOML(string(text))
}

// invalidUTF8 is the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}
