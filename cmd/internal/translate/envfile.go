package translate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/toolsfile"
	"toolman/mcpwire/sanitize"
)

const maxEnvFile = 64 << 10

// envFile adds the variables of a file with NAME=VALUE lines, except those that env has.
func (t *translator) envFile(written string) error {
	v, err := Text(t.syntax, t.context, written)
	if err != nil {
		return err
	}
	path := strings.Replace(v.Text, "${"+homeVariable(t.context.OS)+"}", t.context.Home, 1)
	if strings.Contains(path, "${") {
		return errors.New("its name holds a variable")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.context.Project, path)
	}
	text, err := source.Read(path, maxEnvFile)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %s", sanitize.Line(path), source.Reason(err))
	}
	s := &t.Translation.Server
	for _, p := range variablesOf(text) {
		if slices.ContainsFunc(s.Env, func(other toolsfile.Pair) bool { return other.Name == p.Name }) {
			continue
		}
		t.key.WriteString("\x00" + p.Name + "\x00" + Escape(p.Value))
		value := Escape(p.Value)
		if IsSecret(p.Name, p.Value) {
			value = t.secret(p.Name, p.Value, path)
		}
		s.Env = append(s.Env, toolsfile.Pair{Name: p.Name, Value: value})
	}
	return nil
}

// variablesOf reads lines of the form NAME=VALUE, with or without export and quotes.
func variablesOf(text []byte) (all []toolsfile.Pair) {
	lines := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	lines.Buffer(nil, maxEnvFile+1)
	for lines.Scan() {
		line := strings.TrimPrefix(strings.TrimSpace(lines.Text()), "export ")
		name, value, ok := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || !syntax.ValidName(name) {
			continue
		}
		switch {
		case len(value) >= 2 && strings.ContainsAny(value[:1], `"'`) && strings.IndexByte(value[1:], value[0]) >= 0:
			value = value[1 : 1+strings.IndexByte(value[1:], value[0])]
		default:
			value, _, _ = strings.Cut(value, " #")
			value = strings.TrimSpace(value)
		}
		all = slices.DeleteFunc(all, func(p toolsfile.Pair) bool { return p.Name == name })
		all = append(all, toolsfile.Pair{Name: name, Value: value})
	}
	return all
}
