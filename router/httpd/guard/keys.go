package guard

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

var errNoKeys = errors.New("there are no keys")

const (
	keyInterval = 10 * time.Second // between two fetches, however many unknown keys tokens name
	keyAge      = time.Hour        // after which keys are fetched again, while the old ones serve
	keyLife     = 24 * time.Hour   // after which they serve no more
	fetchTime   = 5 * time.Second
)

// A keySet is an issuer's keys. They are fetched when they are first needed, when they get old, and when a token names one
// that is not among them.
type keySet struct {
	url    string
	client *http.Client
	warn   func(string, error)

	// guarded by mu
	mu       sync.Mutex
	keys     []jose.JSONWebKey
	fetched  time.Time
	tried    time.Time
	fetching chan struct{} // closed at the end of a fetch; nil when there is none
}

func newKeySet(at string, warn func(string, error)) (*keySet, error) {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" {
		return nil, errors.New("the URL of the issuer's keys is no URL")
	}
	addr, err := netip.ParseAddr(u.Hostname())
	if local := u.Hostname() == "localhost" || err == nil && addr.IsLoopback(); u.Scheme != "https" && !(u.Scheme == "http" && local) {
		return nil, errors.New("the URL of the issuer's keys is not https")
	}
	return &keySet{url: at, warn: warn, client: &http.Client{Timeout: fetchTime, CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("it redirects elsewhere")
	}}}, nil
}

// find returns the keys that a signature with that kid, which may be "", and algorithm can be of. It waits for a fetch only
// when there is none; the error says that there are no keys at all.
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

// look is find at a moment; wait is closed when it is worth looking again.
func (k *keySet) look(kid, alg string, now time.Time) (found []jose.JSONWebKey, wait chan struct{}, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if age := now.Sub(k.fetched); age < keyLife {
		found = matching(k.keys, kid, alg)
		if len(found) > 0 && age < keyAge {
			return found, nil, nil
		}
	} else {
		err = errNoKeys
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

// matching are the keys that can have made a signature.
func matching(keys []jose.JSONWebKey, kid, alg string) []jose.JSONWebKey {
	return slices.DeleteFunc(slices.Clone(keys), func(key jose.JSONWebKey) bool {
		return kid != "" && key.KeyID != kid || key.Algorithm != "" && key.Algorithm != alg
	})
}

// fetch replaces the keys.
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
