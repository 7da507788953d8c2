package config

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

// A SessionValue is a variable of env, or a header, that has something else for each session under toolman serve.
type SessionValue struct {
	Name  string
	texts []string // one more than keys
	keys  []string // what stands between two texts
}

// sessionReference is ${session.KEY}, with the $ before it that makes it a literal one.
var sessionReference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$?\$\{session\.([^{}]*)\}`) })

// sessionOpening is in every text that has one, and in few others.
const sessionOpening = "${session."

// Fill returns the value for a session, which has said this of itself. An error names the key that it has left out.
func (v *SessionValue) Fill(session map[string]string) (string, error) {
	var b strings.Builder
	for i, text := range v.texts {
		b.WriteString(text)
		if i == len(v.keys) {
			break
		}
		said, ok := session[v.keys[i]]
		if !ok {
			return "", fmt.Errorf("the session has no %s in its ?config=, which %s needs", v.keys[i], v.Name)
		}
		b.WriteString(said)
	}
	return b.String(), nil
}

// In returns the server as it is for a session that has said this of itself. An error names a key that it has left out.
func (s Server) In(session map[string]string) (Server, error) {
	own := make([]string, 0, len(s.SessionEnv)+len(s.Env))
	for i := range s.SessionEnv {
		value, err := s.SessionEnv[i].Fill(session)
		if err != nil {
			return s, err
		}
		own = append(own, s.SessionEnv[i].Name+"="+value)
	}
	s.Env, s.SessionEnv = append(own, s.Env...), nil // an assignment in the command wins
	if s.Remote == nil {
		return s, nil
	}
	r := *s.Remote
	r.Header = r.Header.Clone()
	for i := range r.SessionHeader {
		value, err := r.SessionHeader[i].Fill(session)
		if err != nil {
			return s, err
		}
		r.Header.Set(r.SessionHeader[i].Name, value)
	}
	r.SessionHeader, s.Remote = nil, &r
	return s, nil
}

// ForEachSession reports whether every session has a process, or a connection, of its own of the server.
func (s *Server) ForEachSession() bool {
	return len(s.SessionEnv) > 0 || s.Remote != nil && len(s.Remote.SessionHeader) > 0
}

// session splits a string at its ${session.KEY}, and replaces all other references; nil for a string without one.
func (sc scope) session(name, text string) *SessionValue {
	if !strings.Contains(text, sessionOpening) {
		return nil
	}
	v := SessionValue{Name: name}
	done := 0
	for _, at := range sessionReference().FindAllStringSubmatchIndex(text, -1) {
		if strings.HasPrefix(text[at[0]:], "$$") {
			continue
		}
		v.texts = append(v.texts, sc.clean(sc.expand(text[done:at[0]])))
		v.keys = append(v.keys, sc.sessionKey(text[at[2]:at[3]]))
		done = at[1]
	}
	if len(v.keys) == 0 {
		return nil
	}
	v.texts = append(v.texts, sc.clean(sc.expand(text[done:])))
	return &v
}

// sessionKey is a key that sessions may have.
func (sc scope) sessionKey(key string) string {
	if !slices.Contains(sc.d.sessionKeys, key) {
		all := strings.Join(append(slices.Clone(sc.d.sessionKeys), cmp.Or(sanitize.Line(key), "KEY")), `", "`)
		hint := "write " + sc.d.write("session_config_keys", `["`+all+`"]`) + " in http"
		if near := suggest.Nearest(key, sc.d.sessionKeys); near != "" {
			hint = "did you mean ${session." + sanitize.Line(near) + "}?"
		}
		sc.fail(hint, "${session.%s} is of a key that http.session_config_keys does not have", sanitize.Line(key))
	}
	return key
}

// refuseSession notes a ${session.…} where there can be none, and reports whether there is one.
func (sc scope) refuseSession(text string) bool {
	if !strings.Contains(text, sessionOpening) {
		return false
	}
	for _, found := range sessionReference().FindAllString(text, -1) {
		if !strings.HasPrefix(found, "$$") {
			sc.fail("give it to the server in env, and have that read the variable", "${session.…} cannot stand in a command: whoever connects would write a part of what is run")
			return true
		}
	}
	return false
}

// sessionKeys are what http.session_config_keys has, which is looked through when http is decoded.
func sessionKeys(root table) []string {
	http, _ := root.values["http"].value.([]member)
	var keys []string
	for _, m := range http {
		elems, _ := m.value.([]node)
		for _, n := range elems {
			if key, ok := n.value.(string); ok && m.key == "session_config_keys" {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// notShared notes a server of which every session has its own, and which all are to share.
func (t table) notShared(s *Server) {
	if s.ForEachSession() && s.Share == "always" {
		t.d.fail(t.values["share"].line, "take share out", "the server has something else for each session: it cannot be shared")
	}
}
