package setup

import (
	"fmt"
	"io"
	"os"
	"strings"

	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/store"
)

const (
	inEnvironment = "TOOLMAN_CONFIG_JSON" // the variable with a configuration in it
	fromStdin     = "-"                   // the name of standard input
	stdinName     = "standard input"      // as messages call it
)

// named returns the configuration with a name that the user has given.
func named(dir, name string) source.Source {
	if name == fromStdin {
		return source.Source{Path: fromStdin}
	}
	return source.Source{Path: against(dir, name)}
}

// isObject returns an error for a text of TOOLMAN_CONFIG_JSON that is no JSON object, such as the
// name of a file. It does not show the text.
func isObject(text string) error {
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		return nil
	}
	return &source.Error{Problems: []source.Problem{{File: inEnvironment, Line: 1,
		Msg: "this is no JSON object", Hint: "it holds the configuration itself; TOOLMAN_CONFIG names a file"}}}
}

// readOnce reads a configuration from standard input, or from a pipe or device, which gives it only
// once. Its paths are relative to dir.
func (f *Flags) readOnce(at *Location, dir string) error {
	if at.Virtual() {
		return nil
	}
	isStdin := at.Path == fromStdin
	if !isStdin {
		info, err := os.Stat(at.Path)
		if err != nil || info.IsDir() {
			return nil // the reader has the error
		}
		stdin, err := f.Stdin.Stat()
		isStdin = err == nil && os.SameFile(info, stdin) && at.Path != os.DevNull
		if info.Mode().IsRegular() && !(isStdin && f.Taken) {
			return nil
		}
	}
	if isStdin && f.Taken {
		return &source.Error{Problems: []source.Problem{{
			Msg:  "the configuration cannot be read from standard input, which is the connection to the client",
			Hint: "name a file with --config, or write the configuration as JSON into " + inEnvironment,
		}}}
	}
	if at.Dir = dir; at.Path != fromStdin {
		text, err := source.ReadText(at.Path)
		at.Text = append([]byte{}, text...)
		return err
	}
	at.Path = stdinName
	text, err := io.ReadAll(io.LimitReader(f.Stdin, source.MaxBytes+1))
	if err != nil {
		return fmt.Errorf("reading the configuration from standard input: %w", err)
	}
	at.Text = append([]byte{}, text...)
	return nil
}

// Files returns the files that a [Watch] reports changes of. Call it before the configuration is
// loaded.
func (l Location) Files() []string {
	if l.Virtual() {
		return nil
	}
	return []string{l.Path, store.LockPath(l.Path)}
}
