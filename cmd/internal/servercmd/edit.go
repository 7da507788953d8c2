package servercmd

import (
	"errors"
	"fmt"
	"io"
	"os"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/filechange"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/toolsfile"
)

// open returns the file to edit. If it does not exist, its text is that of a new one.
func open(f *setup.Flags) (file toolsfile.File, exists bool, err error) {
	path, err := f.FindToEdit()
	if err != nil {
		return toolsfile.File{}, false, err
	}
	if file, err = toolsfile.Open(path); err != nil {
		return file, false, err
	}
	if exists = file.Text != nil; !exists {
		file.Text = toolsfile.New()
	}
	return file, exists, nil
}

// save writes the text or, with dryRun, prints what would change.
func save(out io.Writer, file toolsfile.File, exists bool, text []byte, dryRun bool) error {
	if !exists {
		file.Text = nil
	}
	changes, err := file.Changes(text, config.Schema())
	if err != nil {
		return err
	}
	if dryRun {
		_, err := io.WriteString(out, toolsfile.Diff(changes))
		return err
	}
	return filechange.Apply(changes...)
}

// unset names variables that a server needs and that are not set here.
func unset(s toolsfile.Server) (names []string) {
	for _, name := range s.Needs() {
		if _, ok := os.LookupEnv(name); !ok {
			names = append(names, name)
		}
	}
	return names
}

// check reads the server as toolman does, with all variables set.
func check(s toolsfile.Server, path string) error {
	err := s.Check(path)
	if err == nil {
		return nil
	}
	return cli.Usage(fmt.Errorf("the server cannot be written: %w", err), "toolman help configuration describes the keys; a literal ${ is written $${")
}

var errNone = errors.New("there is no tools.toml")
