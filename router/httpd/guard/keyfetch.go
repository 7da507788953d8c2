package guard

import (
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

const (
	maxKeySet    = 1 << 20 // bytes
	maxKeys      = 100
	leastRSABits = 2048 // RFC 7518, 3.3
)

// get fetches the keys.
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

// parseKeys reads a JWK set. Keys that are of no use are left out (RFC 7517, 5).
func parseKeys(text []byte) ([]jose.JSONWebKey, error) {
	var set struct{ Keys []json.RawMessage }
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("the key set is no JSON: %w", err)
	}
	var keys []jose.JSONWebKey
	for _, one := range set.Keys[:min(len(set.Keys), maxKeys)] {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(one) == nil && useful(key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the key set has no public key for signatures")
	}
	return keys, nil
}

// useful reports whether a key is public, for signatures and strong enough.
func useful(key jose.JSONWebKey) bool {
	if r, ok := key.Key.(*rsa.PublicKey); ok && r.N.BitLen() < leastRSABits {
		return false
	}
	return key.Valid() && key.IsPublic() && (key.Use == "" || strings.EqualFold(key.Use, "sig"))
}
