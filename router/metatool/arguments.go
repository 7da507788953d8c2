package metatool

import (
	"fmt"
	"slices"
	"strings"

	"toolman/jsonrpc"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
)

// arguments are the arguments of a call of one of toolman's own tools.
type arguments struct {
	m  *jsonrpc.Message
	at jsonrpc.Span // an object, or absent
}

// argumentsOf returns the arguments of a call. Arguments other than known are an error.
func argumentsOf(m *jsonrpc.Message, known ...string) (arguments, error) {
	at, err := m.Param("arguments")
	if err != nil || !at.Present() {
		return arguments{m: m}, err
	}
	if !m.IsObject(at) {
		return arguments{}, fmt.Errorf("arguments must be an object")
	}
	a := arguments{m, at}
	return a, a.only(known...)
}

// only returns an error if there are arguments other than known.
func (a arguments) only(known ...string) error {
	for key := range jsonrpc.Members(a.m.Frame, a.at) {
		if !slices.Contains(known, key) {
			text := "there are none"
			if len(known) > 0 {
				text = "there are " + strings.Join(known, ", ")
			}
			return fmt.Errorf("%q is not a parameter; %s", sanitize.Cut(key, catalog.NameLimit), text)
		}
	}
	return nil
}

// get returns an argument. It may be absent.
func (a arguments) get(key string) (jsonrpc.Span, error) {
	if !a.at.Present() {
		return jsonrpc.Span{}, nil
	}
	return a.m.Get(a.at, key)
}

// text returns a required string.
func (a arguments) text(key string) (string, error) {
	at, err := a.get(key)
	if err == nil && !a.m.IsString(at) {
		err = fmt.Errorf("%s is missing, or not a string", key)
	}
	if err != nil {
		return "", err
	}
	return string(a.m.Text(at)), nil
}

// optional returns an optional string.
func (a arguments) optional(key string) (string, error) {
	at, err := a.get(key)
	if err != nil || !at.Present() {
		return "", err
	}
	return a.text(key)
}

// flag returns an optional boolean.
func (a arguments) flag(key string) (bool, error) {
	at, err := a.get(key)
	if err != nil || !at.Present() {
		return false, err
	}
	switch string(a.m.Bytes(at)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%s must be true or false", key)
}
