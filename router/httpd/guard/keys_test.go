package guard

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// A web is an issuer without a network, for bubbles of synctest.
type web struct {
	text   string
	status int
	fails  error
	takes  time.Duration
	asks   int
}

func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	w.asks++
	select {
	case <-time.After(w.takes):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if w.fails != nil {
		return nil, w.fails
	}
	return &http.Response{StatusCode: w.status, Body: io.NopCloser(strings.NewReader(w.text)), Header: http.Header{"Location": {"http://evil.example/"}}, Request: r}, nil
}

func (w *web) show(t *testing.T, keys ...jose.JSONWebKey) {
	t.Helper()
	set := jose.JSONWebKeySet{}
	for _, k := range keys {
		set.Keys = append(set.Keys, k.Public())
	}
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	w.text, w.status, w.fails = string(text), 200, nil
}

func webKeys(t *testing.T, w *web) *keySet {
	t.Helper()
	k, err := newKeySet("https://login.example.com/jwks", func(string, error) {})
	if err != nil {
		t.Fatal(err)
	}
	k.client.Transport = w
	return k
}

// finds checks what there is for a kid, and how often the issuer has been asked by now.
func finds(t *testing.T, w *web, k *keySet, kid string, keys, asks int) {
	t.Helper()
	found, err := k.find(t.Context(), kid, "ES256")
	synctest.Wait()
	if err != nil || len(found) != keys || w.asks != asks {
		t.Errorf("%s: found %d keys (%v) with %d fetches, want %d with %d", kid, len(found), err, w.asks, keys, asks)
	}
}

func TestKeysRotate(t *testing.T) {
	first, second, third := ecKey(t, "k1"), ecKey(t, "k2"), ecKey(t, "k3")
	synctest.Test(t, func(t *testing.T) {
		w := &web{}
		w.show(t, first)
		k := webKeys(t, w)
		finds(t, w, k, "k1", 1, 1)
		w.show(t, first, second)
		finds(t, w, k, "k2", 0, 1) // somebody who makes up keys has us fetch no more often than this
		time.Sleep(keyInterval)
		finds(t, w, k, "k1", 1, 1) // what is known is not fetched again
		finds(t, w, k, "k2", 1, 2)
		finds(t, w, k, "k1", 1, 2)
		w.show(t, second, third)
		time.Sleep(keyAge)
		finds(t, w, k, "k1", 1, 3) // serves while it is fetched anew
		time.Sleep(time.Second)
		finds(t, w, k, "k1", 0, 3) // withdrawn
		finds(t, w, k, "k3", 1, 3)
	})
}

func TestWhenTheIssuerCannotBeReached(t *testing.T) {
	key := ecKey(t, "k1")
	synctest.Test(t, func(t *testing.T) {
		w := &web{fails: errors.New("no route")}
		k := webKeys(t, w)
		warned := 0
		k.warn = func(string, error) { warned++ }
		if _, err := k.find(t.Context(), "k1", "ES256"); err == nil {
			t.Errorf("there are keys")
		}
		if _, err := k.find(t.Context(), "k1", "ES256"); err == nil || w.asks != 1 || warned != 1 {
			t.Errorf("asked %d times, warned %d times: %v", w.asks, warned, err)
		}
		w.show(t, key)
		time.Sleep(keyInterval)
		finds(t, w, k, "k1", 1, 2)
		w.fails = errors.New("no route")
		time.Sleep(keyAge + time.Minute)
		finds(t, w, k, "k1", 1, 3) // the old ones serve for a day
		time.Sleep(keyLife)
		if found, err := k.find(t.Context(), "k1", "ES256"); err == nil || len(found) > 0 {
			t.Errorf("found %d keys that are a day old, %v", len(found), err)
		}
	})
}

// While an unknown key is looked for, tokens of known keys are not held up; and who waits can go.
func TestASlowIssuerHoldsUpOnlyWhoNeedsIt(t *testing.T) {
	key := ecKey(t, "k1")
	synctest.Test(t, func(t *testing.T) {
		w := &web{}
		w.show(t, key)
		k := webKeys(t, w)
		finds(t, w, k, "k1", 1, 1)
		time.Sleep(keyInterval)
		w.takes = time.Hour
		began, done := time.Now(), make(chan time.Duration, 2)
		for range 2 {
			go func() {
				k.find(t.Context(), "k9", "ES256")
				done <- time.Since(began)
			}()
		}
		synctest.Wait()
		if finds(t, w, k, "k1", 1, 2); time.Since(began) != 0 {
			t.Errorf("a known key took %v", time.Since(began))
		}
		if one, two := <-done, <-done; one != fetchTime || two != fetchTime {
			t.Errorf("unknown keys took %v and %v, want %v", one, two, fetchTime)
		}
	})
}

func TestKeySetsThatAreRefused(t *testing.T) {
	key := ecKey(t, "k1")
	synctest.Test(t, func(t *testing.T) {
		for name, w := range map[string]*web{
			"an error":            {status: 500, text: "{}"},
			"a redirect":          {status: 302},
			"no JSON":             {status: 200, text: "<html>"},
			"no keys":             {status: 200, text: `{"keys":[]}`},
			"too much":            {status: 200, text: `{"keys":[` + strings.Repeat(" ", maxKeySet) + `]}`},
			"a shared secret":     {status: 200, text: `{"keys":[{"kty":"oct","k":"c2VjcmV0c2VjcmV0","kid":"k1"}]}`},
			"an unknown key type": {status: 200, text: `{"keys":[{"kty":"XX","kid":"k1"}]}`},
		} {
			if _, err := webKeys(t, w).find(t.Context(), "k1", "ES256"); err == nil {
				t.Errorf("%s: accepted", name)
			}
			if w.asks != 1 {
				t.Errorf("%s: %d fetches", name, w.asks)
			}
		}
		private, err := json.Marshal(key)
		if err != nil {
			t.Fatal(err)
		}
		public, err := json.Marshal(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		w := &web{status: 200, text: `{"keys":[` + string(private) + `,{"kty":"XX"},1,` + string(public) + `]}`}
		finds(t, w, webKeys(t, w), "k1", 1, 1) // one of no use does not spoil the others
	})
}
