package credential

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"toolman/mcpwire/system"

	"golang.org/x/oauth2"
)

// maxFile is the largest size of a file with a token.
const maxFile = 64 << 10

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
	return f.authorize(ctx, h, f.renew)
}

// renew reads the file, and requests a token if that in the file has expired.
func (f *TokenFile) renew(ctx context.Context) error {
	_, err := f.load()
	if err == nil && f.refreshable() && !f.fresh() {
		err = f.refresh(ctx)
	}
	return err
}

// Refused records that a server has rejected the token. There may be another one if the file has
// changed or the token can be refreshed.
func (f *TokenFile) Refused(h http.Header) bool {
	f.enter(context.Background()) // does not fail
	defer f.leave()
	if _, err := f.load(); err != nil {
		return false
	}
	if h.Get("Authorization") != f.header() {
		return true
	}
	f.refused = true
	return f.refreshable()
}

func (f *TokenFile) refreshable() bool { return f.token.RefreshToken != "" && f.of.TokenURL != "" }

// load reads the file if it has changed.
func (f *TokenFile) load() (changed bool, err error) {
	info, err := os.Stat(f.path)
	switch {
	case err != nil:
		return false, fmt.Errorf("token_file: %w", err)
	case f.read != nil && info.ModTime().Equal(f.read.ModTime()) && info.Size() == f.read.Size():
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
	f.read = info
	return true, nil
}

// parse reads the text of the file.
func (f *TokenFile) parse(text string, written time.Time) error {
	var file struct {
		oauth2.Token
		ExpiresAt json.RawMessage `json:"expires_at"`
	}
	var members map[string]json.RawMessage
	if !strings.HasPrefix(text, "{") {
		file.AccessToken = text
	} else if json.Unmarshal([]byte(text), &file) != nil || json.Unmarshal([]byte(text), &members) != nil {
		return errors.New("is not a valid JSON object with a token") // the JSON error may quote the token
	}
	var seconds json.Number
	json.Unmarshal(file.ExpiresAt, &seconds) // of another type: it does not count
	if at, err := seconds.Float64(); err == nil && file.Expiry.IsZero() {
		file.Expiry = time.Unix(int64(at), 0)
	}
	if file.Expiry.IsZero() && file.ExpiresIn > 0 {
		file.Expiry = written.Add(time.Duration(file.ExpiresIn) * time.Second)
	}
	if !sendable(file.AccessToken) || file.AccessToken == "" && file.RefreshToken == "" {
		return errors.New("contains no usable token; the token must be visible ASCII on a single line")
	}
	f.set(file.Token)
	f.members = members
	return nil
}

// sendable reports whether text is empty or visible ASCII. (RFC 6750 allows tokens slightly less.)
func sendable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// refresh requests a token. If another program has used the refresh token first, the file contains
// another one.
func (f *TokenFile) refresh(ctx context.Context) error {
	ctx, cancel := f.of.context(ctx)
	defer cancel()
	config := oauth2.Config{ClientID: f.of.ClientID, ClientSecret: f.of.ClientSecret, Scopes: f.of.Scopes, Endpoint: oauth2.Endpoint{TokenURL: f.of.TokenURL}}
	token, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: f.token.RefreshToken}).Token()
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.ErrorCode == "invalid_grant" {
		if changed, loadErr := f.load(); changed && loadErr == nil && f.fresh() {
			return nil
		}
	}
	if err != nil {
		return f.of.explain(err)
	}
	if token.AccessToken == "" || !sendable(token.AccessToken) {
		return errors.New("the authorization server issued a token that is empty or not visible ASCII")
	}
	f.set(*token)
	if err := f.write(); err != nil {
		return fmt.Errorf("token_file: the new token cannot be saved, and the old one may no longer work: %w", err)
	}
	return nil
}

// write puts the token into the file, and keeps the other members.
func (f *TokenFile) write() error {
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
	if err := replace(f.path, append(text, '\n')); err != nil {
		return err
	}
	f.read, err = os.Stat(f.path)
	return err
}

func (f *TokenFile) member(key, value string) { f.members[key], _ = json.Marshal(value) }

// replace replaces the content of a file, whole or not at all. Only its owner may read it.
func replace(path string, text []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".token-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return system.Rename(temp.Name(), path)
}
