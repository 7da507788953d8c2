package engine

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/valkey-io/valkey-go"
)

// keys are the cluster's key and what is derived from it.
type keys struct {
	made   uint64 // milliseconds since 1970, by the clock of the replica that made the key
	key    [32]byte
	sealed string // as it is in the engine
	names  []byte
	values []byte
}

func newKeys(made uint64, key [32]byte, sealed string) (*keys, error) {
	k := &keys{made: made, key: key, sealed: sealed}
	var err error
	if k.names, err = derive(key[:], "toolman engine names"); err != nil {
		return nil, err
	}
	k.values, err = derive(key[:], "toolman engine values")
	return k, err
}

// older reports whether k stays when two replicas have made keys at the same time.
func (k *keys) older(than *keys) bool {
	return k.made < than.made || k.made == than.made && bytes.Compare(k.key[:], than.key[:]) < 0
}

// name returns the name of the key for what is called id.
func (k *keys) name(base, kind, id string) string {
	mac := hmac.New(sha256.New, k.names)
	mac.Write([]byte(kind + ":" + id))
	return base + kind + ":" + strings.ToLower(base32.StdEncoding.EncodeToString(mac.Sum(nil)))[:26]
}

// seal encrypts a value for the key of that name. Each name has a key of its own for that, so that
// random nonces do not meet.
func (k *keys) seal(name string, plain []byte) (string, error) { return seal(k.of(name), name, plain) }

func (k *keys) open(name, sealed string) ([]byte, error) { return open(k.of(name), name, sealed) }

func (k *keys) of(name string) []byte {
	mac := hmac.New(sha256.New, k.values)
	mac.Write([]byte(name))
	return mac.Sum(nil)
}

func derive(secret []byte, purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, secret, nil, purpose, 32)
}

func aead(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func seal(key []byte, name string, plain []byte) (string, error) {
	a, err := aead(key)
	if err != nil {
		return "", err
	}
	return string(a.Seal(nil, nil, plain, []byte(name))), nil
}

func open(key []byte, name, sealed string) ([]byte, error) {
	a, err := aead(key)
	if err != nil {
		return nil, err
	}
	plain, err := a.Open([]byte{}, nil, []byte(sealed), []byte(name))
	if err != nil {
		return nil, errForeign
	}
	return plain, nil
}

// Join returns the cluster's key, which the first replica makes. It is sealed with the first of the
// secrets, if it was sealed with another one. Later calls return the same key, and put it back if
// the engine lost it; they return another key if the cluster has an older one.
func (e *Engine) Join(ctx context.Context) (key [32]byte, err error) {
	k, err := run(ctx, e, func(ctx context.Context, c valkey.Client) (*keys, error) {
		for range 10 { // until no other replica changes it at the same time
			if k, err := e.join(ctx, c); k != nil || err != nil {
				return k, err
			}
		}
		return nil, errors.New("the cluster's key changes all the time")
	})
	if err != nil {
		return key, err
	}
	e.keys.Store(k)
	return k.key, nil
}

// join returns nil if something has come in between.
func (e *Engine) join(ctx context.Context, c valkey.Client) (*keys, error) {
	name, own := e.base+"k", e.keys.Load()
	there, err := c.Do(ctx, c.B().Get().Key(name).Build()).ToString()
	if valkey.IsValkeyNil(err) {
		if own == nil {
			if own, err = e.makeKeys(); err != nil {
				return nil, err
			}
		}
		err = c.Do(ctx, c.B().Set().Key(name).Value(own.sealed).Nx().Build()).Error()
		if valkey.IsValkeyNil(err) {
			return nil, nil
		}
		return own, err
	}
	if err != nil {
		return nil, err
	}
	found, first, err := e.openKeys(there)
	if err != nil {
		return nil, err
	}
	switch {
	case own != nil && own.key != found.key && own.older(found):
		found = own
	case first:
		return found, nil
	default:
		if found, err = e.sealKeys(found.made, found.key); err != nil {
			return nil, err
		}
	}
	if swapped, err := e.swap(ctx, c, there, found.sealed); err != nil || !swapped {
		return nil, err
	}
	return found, nil
}

func (e *Engine) swap(ctx context.Context, c valkey.Client, old, sealed string) (bool, error) {
	return e.scripts.swap.Exec(ctx, c, []string{e.base + "k"}, []string{old, sealed}).AsBool()
}

func (e *Engine) makeKeys() (*keys, error) {
	var key [32]byte
	rand.Read(key[:])
	return e.sealKeys(uint64(time.Now().UnixMilli()), key)
}

func (e *Engine) sealKeys(made uint64, key [32]byte) (*keys, error) {
	sealed, err := seal(e.secrets[0], e.base+"k", append(binary.BigEndian.AppendUint64(nil, made), key[:]...))
	if err != nil {
		return nil, err
	}
	return newKeys(made, key, sealed)
}

// openKeys reads the cluster's key as it is in the engine. It reports whether it is sealed with the
// first of the secrets.
func (e *Engine) openKeys(sealed string) (k *keys, first bool, err error) {
	for i, secret := range e.secrets {
		plain, err := open(secret, e.base+"k", sealed)
		if err != nil || len(plain) != 8+32 {
			continue
		}
		k, err := newKeys(binary.BigEndian.Uint64(plain), [32]byte(plain[8:]), sealed)
		return k, i == 0, err
	}
	return nil, false, ErrSecrets
}

// compare checks the cluster's key in the engine. It may be sealed anew, or another one, if the
// engine has lost it and a new replica was faster to make one than this one to put it back.
func (e *Engine) compare(ctx context.Context, c valkey.Client, own *keys, there string) error {
	if own.sealed == there {
		return nil
	}
	found, _, err := e.openKeys(there)
	switch {
	case err != nil: // sealed with a secret that this replica does not have yet
		return nil
	case found.key == own.key:
		e.keys.CompareAndSwap(own, found)
		return nil
	case own.older(found):
		_, err := e.swap(ctx, c, there, own.sealed)
		return err
	}
	e.keys.CompareAndSwap(own, nil)
	return ErrRejoin
}

// joined returns the keys of a replica that has joined.
func (e *Engine) joined() (*keys, error) {
	if k := e.keys.Load(); k != nil {
		return k, nil
	}
	return nil, ErrNotJoined
}
