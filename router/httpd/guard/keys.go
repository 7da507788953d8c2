package guard

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	keyInterval = 10 * time.Second // between two fetches, however many unknown keys tokens name
	keyAge      = time.Hour        // after which keys are fetched again, while the old ones are used
	keyLife     = 24 * time.Hour   // after which they are not used any more
	fetchTime   = 5 * time.Second
)

// A keySet holds an issuer's keys. They are fetched when they are first needed, when they are old,
// and when a token names one that is missing.
type keySet struct {
	url    string
	client *http.Client
	warn   func(string, error)

	// guarded by mu
	mu       sync.Mutex
	keys     []jose.JSONWebKey
	fetched  time.Time
	tried    time.Time
	fetching chan struct{} // closed at the end of a fetch; nil if there is none
}

func newKeySet(at string, warn func(string, error)) (*keySet, error) {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" {
		return nil, errors.New("the URL of the issuer's keys is not a URL")
	}
	addr, err := netip.ParseAddr(u.Hostname())
	if local := u.Hostname() == "localhost" || err == nil && addr.IsLoopback(); u.Scheme != "https" && !(u.Scheme == "http" && local) {
		return nil, errors.New("the URL of the issuer's keys is not https")
	}
	return &keySet{url: at, warn: warn, client: &http.Client{Timeout: fetchTime, CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("it redirects to another URL")
	}}}, nil
}

// find returns the keys that can have made a signature with this kid, which may be "", and
// algorithm. It waits for a fetch if there is none. It fails if there are no keys at all.
func (k *keySet) find(ctx context.Context, kid, alg string) ([]jose.JSONWebKey, error) {
	for {
		found, wait, err := k.look(kid, alg, time.Now())
		if wait == nil {
			return found, err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// look is find without waiting; wait is closed when it should be called again.
func (k *keySet) look(kid, alg string, now time.Time) (found []jose.JSONWebKey, wait chan struct{}, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if age := now.Sub(k.fetched); age < keyLife {
		found = matching(k.keys, kid, alg)
		if len(found) > 0 && age < keyAge {
			return found, nil, nil
		}
	} else {
		err = errors.New("there are no keys")
	}
	if k.fetching == nil && now.Sub(k.tried) >= keyInterval {
		k.tried = now
		k.fetching = make(chan struct{})
		go k.fetch(k.fetching)
	}
	if len(found) > 0 {
		return found, nil, nil
	}
	return nil, k.fetching, err
}

// matching returns the keys that can have made a signature.
func matching(keys []jose.JSONWebKey, kid, alg string) []jose.JSONWebKey {
	return slices.DeleteFunc(slices.Clone(keys), func(key jose.JSONWebKey) bool {
		return kid != "" && key.KeyID != kid || key.Algorithm != "" && key.Algorithm != alg
	})
}

// fetch replaces the keys by those of the issuer.
func (k *keySet) fetch(done chan struct{}) {
	keys, err := k.get()
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.warn("the keys of the JWT issuer cannot be fetched", err)
	} else {
		k.keys, k.fetched = keys, time.Now()
	}
	k.fetching = nil
	close(done)
}

const (
	maxKeySet    = 1 << 20 // bytes
	maxKeys      = 100
	leastRSABits = 2048 // RFC 7518, 3.3
)

// get requests the keys.
func (k *keySet) get() ([]jose.JSONWebKey, error) {
	resp, err := k.client.Get(k.url)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", k.url, resp.Status)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxKeySet+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", k.url, err)
	}
	if len(text) > maxKeySet {
		return nil, fmt.Errorf("%s is longer than %d bytes", k.url, maxKeySet)
	}
	return parseKeys(text)
}

// parseKeys reads a JWK set without unusable keys (RFC 7517, 5).
func parseKeys(text []byte) ([]jose.JSONWebKey, error) {
	var set struct{ Keys []json.RawMessage }
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("the key set is not JSON: %w", err)
	}
	var keys []jose.JSONWebKey
	for _, one := range set.Keys[:min(len(set.Keys), maxKeys)] {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(one) == nil && usable(key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the key set has no public key for signatures")
	}
	return keys, nil
}

// usable reports whether a key is public, for signatures and strong enough.
func usable(key jose.JSONWebKey) bool {
	if r, ok := key.Key.(*rsa.PublicKey); ok && r.N.BitLen() < leastRSABits {
		return false
	}
	return key.Valid() && key.IsPublic() && (key.Use == "" || strings.EqualFold(key.Use, "sig"))
}
