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

	"golang.org/x/oauth2"
)

// maxFile is how large a file with a token may be.
const maxFile = 64 << 10

// A TokenFile is a file that holds a token: alone on its line, or as the JSON object that
// token endpoints answer with, where access_token, refresh_token and expiry (or expires_at,
// in seconds since 1970) count. It is read again when it has changed. A refresh token in it
// is used when the token has ended or a server refuses it, and what comes of it is written
// back.
type TokenFile struct {
	path string
	of   OAuth
	turn chan struct{} // holds one value while nobody looks at what follows

	// owned by who has the turn
	read    os.FileInfo // as the file was when it was read; nil: never
	token   oauth2.Token
	members map[string]json.RawMessage // of the file; nil: it is no JSON
	header  string
	refused bool // by a server
}

// NewTokenFile makes one of a path. of is where it is refreshed; without a TokenURL it is
// not. Nothing is read yet.
func NewTokenFile(path string, of OAuth) *TokenFile {
	return &TokenFile{path: path, of: of, turn: make(chan struct{}, 1)}
}

// Authorize sets the header Authorization. It may wait for the authorization server, no
// longer than ctx.
func (f *TokenFile) Authorize(ctx context.Context, h http.Header) error {
	if err := enter(ctx, f.turn); err != nil {
		return err
	}
	defer leave(f.turn)
	if _, err := f.load(); err != nil {
		return err
	}
	if f.refreshable() && (f.refused || !fresh(&f.token)) {
		if err := f.refresh(ctx); err != nil {
			return err
		}
	}
	h.Set("Authorization", f.header)
	return nil
}

// Refused says that a server did not take the token. There may be another when the file
// has changed or can be refreshed.
func (f *TokenFile) Refused(h http.Header) bool {
	if enter(context.Background(), f.turn) != nil {
		return false
	}
	defer leave(f.turn)
	if _, err := f.load(); err != nil {
		return false
	}
	if h.Get("Authorization") != f.header {
		return true
	}
	f.refused = true
	return f.refreshable()
}

func (f *TokenFile) refreshable() bool { return f.token.RefreshToken != "" && f.of.TokenURL != "" }

// load reads the file if it has changed.
func (f *TokenFile) load() (changed bool, err error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return false, fmt.Errorf("token_file: %w", err)
	}
	if f.read != nil && info.ModTime().Equal(f.read.ModTime()) && info.Size() == f.read.Size() {
		return false, nil
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return false, fmt.Errorf("token_file: %s is no file of a token", f.path)
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return false, fmt.Errorf("token_file: %w", err)
	}
	if err := f.parse(strings.TrimSpace(string(text)), info.ModTime()); err != nil {
		return false, fmt.Errorf("token_file: %s %w", f.path, err)
	}
	f.read, f.refused = info, false
	return true, nil
}

// parse reads the text of the file.
func (f *TokenFile) parse(text string, written time.Time) error {
	token, members := oauth2.Token{AccessToken: text}, map[string]json.RawMessage(nil)
	if strings.HasPrefix(text, "{") {
		var times struct {
			ExpiresAt json.Number `json:"expires_at"`
		}
		token = oauth2.Token{}
		if json.Unmarshal([]byte(text), &token) != nil || json.Unmarshal([]byte(text), &members) != nil {
			return errors.New("is not the JSON object of a token") // the reason may quote it
		}
		json.Unmarshal([]byte(text), &times) // of another kind: it does not count
		if at, err := times.ExpiresAt.Float64(); err == nil && token.Expiry.IsZero() {
			token.Expiry = time.Unix(int64(at), 0)
		}
		if token.Expiry.IsZero() && token.ExpiresIn > 0 {
			token.Expiry = written.Add(time.Duration(token.ExpiresIn) * time.Second)
		}
	}
	if !sendable(token.AccessToken) && token.RefreshToken == "" || strings.ContainsFunc(token.AccessToken, unsendable) {
		return errors.New("holds no token that could be sent")
	}
	f.token, f.members, f.header = token, members, bearer(token.AccessToken)
	return nil
}

// sendable reports whether text is what RFC 6750 lets a token be, or near enough.
func sendable(text string) bool { return text != "" && !strings.ContainsFunc(text, unsendable) }

func unsendable(r rune) bool { return r <= ' ' || r > '~' }

// refresh gets a new token. Another program may have been faster, and used the refresh
// token up.
func (f *TokenFile) refresh(ctx context.Context) error {
	ctx, cancel := f.of.context(ctx)
	defer cancel()
	config := oauth2.Config{ClientID: f.of.ClientID, ClientSecret: f.of.ClientSecret, Scopes: f.of.Scopes, Endpoint: oauth2.Endpoint{TokenURL: f.of.TokenURL}}
	token, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: f.token.RefreshToken}).Token()
	if err != nil {
		denied, ok := f.of.explain(err).(*deniedError)
		if ok && denied.code == "invalid_grant" {
			if changed, loadErr := f.load(); changed && loadErr == nil && fresh(&f.token) {
				return nil
			}
		}
		return f.of.explain(err)
	}
	if !sendable(token.AccessToken) {
		return errors.New("the authorization server gives a token that cannot be sent")
	}
	f.token, f.header, f.refused = *token, bearer(token.AccessToken), false
	if err := f.write(); err != nil {
		return fmt.Errorf("the new token cannot be kept, and the old one may be used up: token_file: %w", err)
	}
	return nil
}

// write puts the token into the file, whole or not at all, and leaves what else is in it.
func (f *TokenFile) write() error {
	if f.members == nil {
		f.members = map[string]json.RawMessage{}
	}
	delete(f.members, "expires_in")
	delete(f.members, "expires_at")
	delete(f.members, "expiry")
	f.set("access_token", f.token.AccessToken)
	f.set("refresh_token", f.token.RefreshToken)
	if !f.token.Expiry.IsZero() {
		f.set("expiry", f.token.Expiry.UTC().Format(time.RFC3339))
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

func (f *TokenFile) set(key, value string) {
	f.members[key], _ = json.Marshal(value)
}

// replace writes a file that only its owner may read.
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
	if err == nil {
		err = temp.Sync()
	}
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	return err
}
