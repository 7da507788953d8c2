package modes

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolman/jsonrpc"
	"toolman/mcpwire/sanitize"
	"toolman/router/httpd/presence"
)

const (
	maxConfig = 16 << 10 // characters of ?config=
	maxShown  = 64       // characters of foreign text in errors
)

// sameForAll reports whether all clients have the same servers, whatever they send in ?config=.
func (m *Modes) sameForAll() bool { return m.Static || m.Permissions != nil }

// config returns the client's own settings, in the query of a request; nil if there are none.
func (m *Modes) config(r *http.Request) (map[string]string, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	values := query["config"]
	if len(values) == 0 && err == nil {
		return nil, nil
	}
	if m.sameForAll() {
		if !m.noted.Swap(true) {
			m.Note("a client has sent ?config=, which does not count where all clients have the same servers")
		}
		return nil, nil
	}
	if err != nil || len(values) > 1 {
		return nil, malformed("the query of the URL is malformed, or has config twice")
	}
	members, err := parseConfig(values[0])
	if err != nil {
		return nil, err
	}
	return m.accepted(members)
}

// accepted returns the settings of a client that count.
func (m *Modes) accepted(members map[string]string) (map[string]string, error) {
	if m.sameForAll() {
		return nil, nil
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if err := m.check(key, members[key]); err != nil {
			return nil, err
		}
	}
	return members, nil
}

func malformed(text string) error {
	return &presence.Denial{Status: http.StatusBadRequest, Text: text}
}

const form = "config must be base64 of a JSON object whose values are strings"

// parseConfig reads Base64, in either alphabet, of a JSON object of strings. Errors do not repeat
// it.
func parseConfig(text string) (map[string]string, error) {
	if len(text) > maxConfig {
		return nil, malformed(fmt.Sprintf("config is longer than %d characters", maxConfig))
	}
	// A + that was not escaped came as a space.
	plain := strings.NewReplacer(" ", "+", "-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	decoded, err := base64.RawStdEncoding.DecodeString(plain)
	if err != nil || !utf8.Valid(decoded) {
		return nil, malformed(form + "; this is not base64")
	}
	members, ok := stringsOf(decoded)
	if !ok {
		return nil, malformed(form + ", with each key once; this is not one")
	}
	if len(members) == 0 {
		return nil, nil
	}
	return members, nil
}

// stringsOf reads a JSON object with different keys whose values are strings.
func stringsOf(text []byte) (map[string]string, bool) {
	text = bytes.TrimSpace(text)
	m, whole := jsonrpc.Message{Frame: text}, jsonrpc.Span{Hi: len(text)}
	if !jsonrpc.Valid(text) || !m.IsObject(whole) {
		return nil, false
	}
	members := map[string]string{}
	for key, at := range jsonrpc.Members(text, whole) {
		if _, twice := members[key]; twice || !m.IsString(at) {
			return nil, false
		}
		members[key] = string(m.Text(at))
	}
	return members, true
}

// check returns what is wrong with a key or its value. The error does not repeat the value.
func (m *Modes) check(key, value string) error {
	switch {
	case len(m.ConfigKeys) == 0:
		return malformed(fmt.Sprintf("?config= with the key %s is not accepted: session_config_keys of [http] is empty", sanitize.Cut(key, maxShown)))
	case !slices.Contains(m.ConfigKeys, key):
		return malformed(fmt.Sprintf("?config= cannot have the key %s: session_config_keys of [http] does not have it", sanitize.Cut(key, maxShown)))
	case strings.ContainsFunc(value, unicode.IsControl):
		return malformed(fmt.Sprintf("the value of %s in ?config= holds control characters", key))
	}
	return nil
}

// digest returns a keyed hash of the settings of a client.
func (m *Modes) digest(config map[string]string) string {
	h := hmac.New(sha256.New, m.Key[:])
	for _, key := range slices.Sorted(maps.Keys(config)) {
		fmt.Fprintf(h, "%d:%s%d:%s", len(key), key, len(config[key]), config[key])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
