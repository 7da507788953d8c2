package guard

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// NewToken returns a bearer token of 256 random bits and its hash as tools.toml takes it. A plain SHA-256 is enough:
// nobody tries 2^256 tokens, so there is nothing that a slow hash could slow down.
func NewToken() (token, hash string) {
	var secret [32]byte
	rand.Read(secret[:]) // never fails, says crypto/rand
	token = "tm_" + base64.RawURLEncoding.EncodeToString(secret[:])
	sum := sha256.Sum256([]byte(token))
	return token, "sha256:" + hex.EncodeToString(sum[:])
}
