package modes

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
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

// A sessionConfig is what a client sends in ?config=.
type sessionConfig struct {
	values  map[string]string // that count; nil: none
	dropped []string          // what does not count, and why, without values
}

// config reads the client's own settings in the query of a request. What is wrong with them is
// dropped, or refused with Options.StrictConfig.
func (m *Modes) config(r *http.Request) (sessionConfig, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	values := query["config"]
	if len(values) == 0 && err == nil {
		return sessionConfig{}, nil
	}
	if m.sameForAll() {
		if !m.noted.Swap(true) {
			m.Note("a client has sent ?config=, which does not count where all clients have the same servers")
		}
		return sessionConfig{}, nil
	}
	c := sessionConfig{values: map[string]string{}}
	if err != nil || len(values) > 1 {
		c.drop("all of ?config=: the query of the URL is malformed, or has config twice")
	} else {
		c.parse(values[0])
	}
	c.keep(m.check)
	if m.StrictConfig && len(c.dropped) > 0 {
		return sessionConfig{}, &presence.Denial{Status: http.StatusBadRequest, Text: "strict_config of [http] refuses " + c.dropped[0]}
	}
	return c, nil
}

// accepted returns those settings of an earlier request that still count.
func (m *Modes) accepted(values map[string]string) map[string]string {
	if m.sameForAll() {
		return nil
	}
	c := sessionConfig{values: maps.Clone(values)}
	c.keep(m.check)
	return c.values
}

// maxDropped is how many things that were dropped the log names.
const maxDropped = 8

func (c *sessionConfig) drop(what string) {
	if len(c.dropped) < maxDropped {
		c.dropped = append(c.dropped, what)
	} else {
		c.dropped = append(c.dropped[:maxDropped], "and more")
	}
}

// keep drops the values with which something is wrong.
func (c *sessionConfig) keep(check func(key, value string) (wrong string)) {
	for _, key := range slices.Sorted(maps.Keys(c.values)) {
		if wrong := check(key, c.values[key]); wrong != "" {
			c.drop(wrong)
			delete(c.values, key)
		}
	}
	if len(c.values) == 0 {
		c.values = nil
	}
}

const configForm = "all of ?config=: it must be base64 of a JSON object, and this is not "

// parse reads base64, in either alphabet, of a JSON object. Text of strings counts, and the JSON of
// other values; null is no value.
func (c *sessionConfig) parse(text string) {
	if len(text) > maxConfig {
		c.drop(fmt.Sprintf("all of ?config=: it is longer than %d characters", maxConfig))
		return
	}
	// A + that was not escaped came as a space.
	plain := strings.NewReplacer(" ", "+", "-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	decoded, err := base64.RawStdEncoding.DecodeString(plain)
	if err != nil || !utf8.Valid(decoded) {
		c.drop(configForm + "base64")
		return
	}
	decoded = bytes.TrimSpace(decoded)
	m, whole := jsonrpc.Message{Frame: decoded}, jsonrpc.Span{Hi: len(decoded)}
	if !jsonrpc.Valid(decoded) || !m.IsObject(whole) {
		c.drop(configForm + "a JSON object")
		return
	}
	times := map[string]int{}
	for key, at := range jsonrpc.Members(decoded, whole) {
		times[key]++
		switch value := m.Bytes(at); {
		case times[key] == 2:
			c.drop("the key " + sanitize.Cut(key, maxShown) + " of ?config=, which is there twice")
			delete(c.values, key)
		case times[key] > 2:
		case m.IsString(at):
			c.values[key] = string(m.Text(at))
		case string(value) != "null":
			c.values[key] = string(compact(value))
		}
	}
}

// compact returns JSON without white space.
func compact(value []byte) []byte {
	var text bytes.Buffer
	json.Compact(&text, value) // cannot fail for valid JSON
	return text.Bytes()
}

// check returns what is wrong with a key or its value; "" if nothing is. It does not repeat the
// value.
func (m *Modes) check(key, value string) (wrong string) {
	switch {
	case len(m.ConfigKeys) == 0:
		return fmt.Sprintf("the key %s of ?config=: session_config_keys of [http] is empty", sanitize.Cut(key, maxShown))
	case !slices.Contains(m.ConfigKeys, key):
		return fmt.Sprintf("the key %s of ?config=: session_config_keys of [http] does not have it", sanitize.Cut(key, maxShown))
	case strings.ContainsFunc(value, unicode.IsControl):
		return fmt.Sprintf("the value of %s in ?config=, which holds control characters", key)
	}
	return ""
}

// digest returns a keyed hash of the settings of a client.
func (m *Modes) digest(config map[string]string) string {
	key := m.Key()
	h := hmac.New(sha256.New, key[:])
	for _, key := range slices.Sorted(maps.Keys(config)) {
		fmt.Fprintf(h, "%d:%s%d:%s", len(key), key, len(config[key]), config[key])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
