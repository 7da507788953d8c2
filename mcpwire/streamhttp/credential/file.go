package credential

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"toolman/mcpwire/streamhttp/internal/endpoint"
	"toolman/mcpwire/system"

	"golang.org/x/oauth2"
)

// errUnsaved is the error of a refresh whose result is in no file.
var errUnsaved = errors.New("the new token cannot be saved, and the old one may no longer work")

const (
	maxFile = 64 << 10     // bytes of a file with a token
	maxTime = 253402300799 // the end of the year 9999, in seconds since 1970
)

// A TokenFile is a file that contains a token, either as its only line or as a JSON object like the
// response of a token endpoint. Of the object, access_token, refresh_token and expiry count (or
// expires_at, in seconds since 1970). The file is read again when it has changed. If the token has
// expired or a server has rejected it, the refresh token in the file is used, and the result is
// written to the file.
type TokenFile struct {
	path string
	of   OAuth
	cache
	read    os.FileInfo                // when the file was read; nil: it was not
	text    string                     // of the file
	members map[string]json.RawMessage // of the file; nil: it is no JSON
}

// NewTokenFile returns a credential that has read nothing yet. of refreshes its tokens if it has a
// TokenURL.
func NewTokenFile(path string, of OAuth) *TokenFile {
	return &TokenFile{path: path, of: of, cache: newCache(of)}
}

// Authorize sets the header Authorization. It waits for the authorization server if the token needs
// to be refreshed.
func (f *TokenFile) Authorize(ctx context.Context, h http.Header) error {
	return f.authorize(ctx, h, f.current, f.renew)
}

// current reads the file, and reports whether the token in it can be used. One that has expired is
// used, too, if it cannot be refreshed: nothing better is known.
func (f *TokenFile) current() (bool, error) {
	_, err := f.load()
	return f.fresh() || !f.refreshable(), err
}

// Refused records that a server has rejected the token. There may be another one if the file has
// changed or the token can be refreshed.
func (f *TokenFile) Refused(h http.Header, resp *http.Response) endpoint.Verdict {
	if resp.StatusCode != http.StatusUnauthorized {
		return endpoint.Verdict{}
	}
	f.enter(context.Background()) // does not fail
	defer f.leave()
	if _, err := f.load(); err != nil {
		return endpoint.Verdict{}
	}
	if h.Get("Authorization") != f.header() {
		return endpoint.Verdict{Again: true}
	}
	f.refused = true
	return endpoint.Verdict{Again: f.refreshable()}
}

func (f *TokenFile) refreshable() bool { return f.token.RefreshToken != "" && f.of.TokenURL != "" }

// load reads the file if it has changed.
func (f *TokenFile) load() (changed bool, err error) {
	info, err := os.Stat(f.path)
	switch {
	case err != nil:
		return false, fmt.Errorf("token_file: %w", err)
	case f.read != nil && os.SameFile(info, f.read) && info.ModTime().Equal(f.read.ModTime()) && info.Size() == f.read.Size():
		return false, nil
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return false, fmt.Errorf("token_file: %s is not a regular file of at most %d bytes", f.path, maxFile)
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return false, fmt.Errorf("token_file: %w", err)
	}
	if err := f.parse(strings.TrimSpace(string(text)), info.ModTime()); err != nil {
		return false, fmt.Errorf("token_file: %s %w", f.path, err)
	}
	f.read, f.text = info, string(text)
	return true, nil
}

// reload is load also for a file that looks as before. Linux gives a new file the number of one
// that is gone, and counts the time of a change in milliseconds.
func (f *TokenFile) reload() (changed bool, err error) {
	if changed, err := f.load(); changed || err != nil {
		return changed, err
	}
	text, err := os.ReadFile(f.path)
	if err != nil || string(text) == f.text {
		return false, err
	}
	f.read = nil
	return f.load()
}

// parse reads the text of the file.
func (f *TokenFile) parse(text string, written time.Time) error {
	var file struct {
		AccessToken  string          `json:"access_token"`
		RefreshToken string          `json:"refresh_token"`
		Expiry       time.Time       `json:"expiry"`
		ExpiresAt    json.RawMessage `json:"expires_at"`
		ExpiresIn    json.RawMessage `json:"expires_in"`
	}
	var members map[string]json.RawMessage
	if !strings.HasPrefix(text, "{") {
		file.AccessToken = text
	} else if json.Unmarshal([]byte(text), &file) != nil || json.Unmarshal([]byte(text), &members) != nil {
		return errors.New("is not a valid JSON object with a token") // the JSON error may quote the token
	}
	// What is no number does not count.
	at, hasAt := seconds(file.ExpiresAt)
	life, err := lifetime(file.ExpiresIn)
	switch {
	case !file.Expiry.IsZero():
	case hasAt:
		file.Expiry = time.Unix(int64(min(at, maxTime)), 0)
	case err == nil && life > 0:
		file.Expiry = written.Add(life)
	}
	if !sendable(file.AccessToken) || file.AccessToken == "" && file.RefreshToken == "" {
		return errors.New("contains no usable token; the token must be visible ASCII on a single line")
	}
	f.set(oauth2.Token{AccessToken: file.AccessToken, RefreshToken: file.RefreshToken, Expiry: file.Expiry}, time.Time{})
	f.members = members
	return nil
}

// sendable reports whether text is empty or visible ASCII. (RFC 6750 allows tokens slightly less.)
func sendable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// renew requests a token, unless another program has put one into the file meanwhile. It holds a
// lock across processes: many servers accept a refresh token once.
func (f *TokenFile) renew(ctx context.Context) error {
	path := f.path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if f.of.Lock != nil {
		waiting, cancel := context.WithTimeout(ctx, lockTime)
		defer cancel()
		unlock, err := f.of.Lock(waiting, path+".lock")
		if err != nil {
			return fmt.Errorf("token_file: it is not refreshed, because it cannot be locked: %w", err)
		}
		defer unlock()
	}
	if changed, err := f.reload(); err != nil || changed && f.fresh() || !f.refreshable() {
		return err
	}
	temp, err := reserve(path)
	if err != nil {
		return fmt.Errorf("token_file: it is not refreshed, because no new token could be saved: %w", err)
	}
	defer os.Remove(temp.Name())
	defer temp.Close()
	at := time.Now()
	refresh := f.token.RefreshToken
	token, err := f.of.probe(ctx, func() url.Values {
		return url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}}
	})
	if refused, ok := errors.AsType[*Refused](err); ok && refused.InvalidGrant() {
		if changed, loadErr := f.reload(); changed && loadErr == nil && f.fresh() {
			return nil // by a program that does not know the lock
		}
	}
	if err != nil {
		return f.of.explain(err)
	}
	if token.RefreshToken == "" {
		token.RefreshToken = refresh
	}
	f.set(*token, at)
	if err := f.write(temp, path); err != nil {
		return fmt.Errorf("token_file: %w: %w", errUnsaved, err)
	}
	return nil
}

// write puts the token into the file, which temp becomes, and keeps the other members.
func (f *TokenFile) write(temp *os.File, path string) error {
	if f.members == nil {
		f.members = map[string]json.RawMessage{}
	}
	for _, key := range []string{"expires_in", "expires_at", "expiry"} {
		delete(f.members, key)
	}
	f.member("access_token", f.token.AccessToken)
	f.member("refresh_token", f.token.RefreshToken)
	if !f.token.Expiry.IsZero() {
		f.member("expiry", f.token.Expiry.UTC().Format(time.RFC3339))
	}
	text, err := json.MarshalIndent(f.members, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	_, err = temp.WriteAt(text, 0)
	err = errors.Join(err, temp.Truncate(int64(len(text))), temp.Sync(), temp.Close())
	if err != nil {
		return err
	}
	if err := system.Rename(temp.Name(), path); err != nil {
		return err
	}
	f.text = string(text)
	f.read, err = os.Stat(f.path)
	return err
}

func (f *TokenFile) member(key, value string) { f.members[key], _ = json.Marshal(value) }

// reserve makes a file beside another one that only its owner may read, and takes place for it on the
// disk: a refresh token must not be used if there is none for the next one.
func reserve(path string) (*os.File, error) {
	temp, err := os.CreateTemp(filepath.Dir(path), ".token-*") // 0600
	if err != nil {
		return nil, err
	}
	if _, err := temp.Write(bytes.Repeat([]byte{' '}, maxFile)); err != nil {
		temp.Close()
		os.Remove(temp.Name())
		return nil, err
	}
	return temp, nil
}
