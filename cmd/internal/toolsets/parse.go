package toolsets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"toolman/router/toolset"
)

// A parser reads a JSON text from its start, and knows what it may find there.
type parser struct {
	text []byte
	dec  *json.Decoder
}

// A problem is what a text has that it may not have.
type problem struct {
	line int
	msg  string
}

func (p *problem) Error() string { return fmt.Sprintf("line %d: %s", p.line, p.msg) }

func newParser(text []byte) *parser {
	p := &parser{text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.UseNumber()
	return p
}

// file reads all of a text, which is one object: each is called for each key, and reads
// its value.
func (p *parser) file(each func(key string) error) error {
	if !utf8.Valid(p.text) {
		return errors.New("it is not UTF-8")
	}
	if err := p.object("the file", each); err != nil {
		return err
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return p.fail("there is something behind the end of the object")
	}
	return nil
}

// Parse reads toolsets in the format of toolsets.json, by [toolset.Set.Key].
func Parse(text []byte) (map[string]toolset.Set, error) {
	p := newParser(text)
	sets := map[string]toolset.Set{}
	err := p.file(func(key string) error {
		if len(sets) == maxSets {
			return p.fail("there are more than %d toolsets", maxSets)
		}
		set, err := p.set(key)
		sets[key] = set
		return err
	})
	if err != nil {
		return nil, err
	}
	return sets, nil
}

// maxSets bounds how many toolsets are kept.
const maxSets = 1000

func (p *parser) fail(format string, args ...any) error {
	at := min(int(p.dec.InputOffset()), len(p.text))
	return &problem{1 + bytes.Count(p.text[:at], []byte("\n")), fmt.Sprintf(format, args...)}
}

// token reads one token.
func (p *parser) token() (json.Token, error) {
	t, err := p.dec.Token()
	if err != nil {
		return nil, p.fail("this is not JSON: %s", err)
	}
	return t, nil
}

// object reads an object: each is called for each key, and reads its value.
func (p *parser) object(what string, each func(key string) error) error {
	if t, err := p.token(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return p.fail("%s must be an object", what)
	}
	had := map[string]bool{}
	for p.dec.More() {
		t, err := p.token()
		if err != nil {
			return err
		}
		key := t.(string) // the decoder lets nothing else be a key
		if had[key] {
			return p.fail("%q is there twice", key)
		}
		had[key] = true
		if err := each(key); err != nil {
			return err
		}
	}
	_, err := p.token()
	return err
}

// array reads an array: each reads one element.
func (p *parser) array(what string, each func() error) error {
	if t, err := p.token(); err != nil {
		return err
	} else if t != json.Delim('[') {
		return p.fail("%s must be an array", what)
	}
	for p.dec.More() {
		if err := each(); err != nil {
			return err
		}
	}
	_, err := p.token()
	return err
}

// str reads a string that good accepts; rule says what that is.
func (p *parser) str(into *string, what, rule string, good func(string) bool) error {
	t, err := p.token()
	if err != nil {
		return err
	}
	s, ok := t.(string)
	if !ok || !good(s) {
		return p.fail("%s must be a string: %s", what, rule)
	}
	*into = s
	return nil
}

// upTo accepts strings of up to so many bytes.
func upTo(most int) func(string) bool { return func(s string) bool { return len(s) <= most } }

// set reads the toolset under a key: its name, or its owner, a slash and its name.
func (p *parser) set(key string) (s toolset.Set, err error) {
	owner, name, owned := strings.Cut(key, "/")
	if !owned {
		owner, name = "", key
	}
	if owned && !toolset.ValidOwner(owner) {
		return s, p.fail("%q is no owner of a toolset: %s", owner, toolset.OwnerRule)
	}
	if !toolset.ValidName(name) {
		return s, p.fail("%q is no name of a toolset: %s", name, toolset.NameRule)
	}
	err = p.object(name, func(key string) error {
		switch key {
		case "name":
			return p.str(&s.Name, "name", "the name that the toolset stands under", func(n string) bool { return n == name })
		case "owner":
			return p.str(&s.Owner, key, "the owner that stands before the name", func(o string) bool { return owned && o == owner })
		case "description":
			return p.str(&s.Description, key, fmt.Sprintf("up to %d bytes", toolset.MaxDescription), upTo(toolset.MaxDescription))
		case "version":
			return p.str(&s.Version, key, fmt.Sprintf("up to %d bytes", maxVersion), upTo(maxVersion))
		case "createdAt":
			var at string
			return p.str(&at, key, `a time like "2024-01-15T10:30:00Z"`, func(text string) bool {
				if s.CreatedAt, err = time.Parse(time.RFC3339, text); err == nil {
					_, err = s.CreatedAt.MarshalText() // which accepts fewer offsets from UTC
				}
				return err == nil
			})
		case "tools":
			s.Tools = []toolset.Ref{}
			return p.array(key, func() error { return p.ref(&s) })
		}
		return p.fail("%q is not known in a toolset; was this written by another program, or by a later version of this one?", key)
	})
	if err == nil && (s.Name == "" || s.Tools == nil) {
		err = p.fail("the toolset %s needs name and tools", name)
	}
	if err == nil && s.Owner != owner {
		err = p.fail("the toolset %s needs owner, since one stands before its name", name)
	}
	return s, err
}

const maxVersion = 64

// ref reads one reference and appends it.
func (p *parser) ref(s *toolset.Set) error {
	if len(s.Tools) == toolset.MaxTools {
		return p.fail("there are more than %d tools", toolset.MaxTools)
	}
	var ref toolset.Ref
	err := p.object("a tool", func(key string) error {
		switch key {
		case "namespacedName":
			return p.str(&ref.NamespacedName, key, fmt.Sprintf("1 to %d bytes", maxToolName), func(n string) bool { return n != "" && len(n) <= maxToolName })
		case "refId":
			return p.str(&ref.RefID, key, "sha256: and 64 hexadecimal digits", toolset.ValidRefID)
		}
		return p.fail("%q is not known in a tool; it has namespacedName and refId", key)
	})
	if err == nil && ref == (toolset.Ref{}) {
		err = p.fail("a tool needs namespacedName or refId")
	}
	s.Tools = append(s.Tools, ref)
	return err
}

const maxToolName = 1024
