package reference

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolman/mcpwire/sanitize"
	"toolman/router/suggest"
)

// A SessionValue is a variable of env, or a header, whose value is different in each session of
// toolman serve.
type SessionValue struct {
	Name  string
	Texts []string // one more than keys
	Keys  []string // between two texts
}

// sessionReference matches ${session.KEY}, and a $ before it, which makes it literal.
var sessionReference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$?\$\{session\.([^{}]*)\}`) })

// sessionReferences returns the offsets of each ${session.KEY} in a text and of its key.
func sessionReferences(text string) [][]int {
	if !strings.Contains(text, "${session.") { // as in most
		return nil
	}
	return slices.DeleteFunc(sessionReference().FindAllStringSubmatchIndex(text, -1), func(at []int) bool {
		return strings.HasPrefix(text[at[0]:], "$$")
	})
}

// Fill calls set with each value for a session that gives these values. An error names a key that
// it lacks.
func Fill(all []SessionValue, session map[string]string, set func(name, value string)) error {
	for _, v := range all {
		value := v.Texts[0]
		for i, key := range v.Keys {
			given, ok := session[key]
			if !ok {
				return fmt.Errorf("the session has no %s in its ?config=, which %s needs", key, v.Name)
			}
			value += given + v.Texts[i+1]
		}
		set(v.Name, value)
	}
	return nil
}

// Session splits a string at each ${session.KEY}, and replaces all other references. It returns nil
// for a string without one.
func (sc Scope) Session(name, text string) *SessionValue {
	all := sessionReferences(text)
	if len(all) == 0 {
		return nil
	}
	v := SessionValue{Name: name}
	done := 0
	for _, at := range all {
		v.Texts = append(v.Texts, sc.Expand(text[done:at[0]]))
		v.Keys = append(v.Keys, sc.sessionKey(text[at[2]:at[3]]))
		done = at[1]
	}
	v.Texts = append(v.Texts, sc.Expand(text[done:]))
	return &v
}

// sessionKey checks a key.
func (sc Scope) sessionKey(key string) string {
	if !slices.Contains(sc.SessionKeys, key) {
		all := strings.Join(append(slices.Clone(sc.SessionKeys), cmp.Or(sanitize.Line(key), "KEY")), `", "`)
		hint := "write " + sc.Write("session_config_keys", `["`+all+`"]`) + " in http"
		if near := suggest.Nearest(key, sc.SessionKeys); near != "" {
			hint = "did you mean ${session." + sanitize.Line(near) + "}?"
		}
		sc.Fail(hint, "${session.%s} is of a key that http.session_config_keys does not have", sanitize.Line(key))
	}
	return key
}
