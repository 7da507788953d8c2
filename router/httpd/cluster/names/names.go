package names

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"maps"
	"slices"
	"strconv"
	"sync"

	"toolman/router/budget"
	"toolman/router/httpd/presence"
)

// Keys make and check what only replicas of the cluster can make.
type Keys struct {
	macs sync.Pool // of hash.Hash
}

// New returns what is derived from the cluster's key.
func New(of [32]byte) *Keys {
	key, err := hkdf.Key(sha256.New, of[:], nil, "toolman cluster names", sha256.Size)
	if err != nil {
		panic(err) // only for a longer key
	}
	return &Keys{sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}}
}

// sum returns the HMAC of some texts.
func (k *Keys) sum(texts ...string) (sum [sha256.Size]byte) {
	mac := k.macs.Get().(hash.Hash)
	defer k.macs.Put(mac)
	mac.Reset()
	var buf [256]byte
	all := buf[:0]
	for _, text := range texts {
		all = strconv.AppendInt(all, int64(len(text)), 10)
		all = append(append(all, ':'), text...)
	}
	mac.Write(all)
	mac.Sum(sum[:0])
	return sum
}

// The ID of a session is 26 random characters, the replica on which it began, and a tag, with dots
// between them.
const (
	randomLength = 26
	idLength     = randomLength + 1 + replicaLength + 1 + tagLength

	replicaLength = 8
	tagLength     = 11 // 64 bits
)

// tag returns the last part of the ID of a session. It does not depend on the configuration, which
// replicas may get at different times.
func (k *Keys) tag(id string, p *budget.Principal) string {
	sum := k.sum("id", id, p.String())
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}

// NewID returns the ID of a new session of a caller, which begins on a replica.
func (k *Keys) NewID(replica string, who *presence.Caller) string {
	id := rand.Text() + "." + replica
	return id + "." + k.tag(id, &who.Client.Principal)
}

// Digests returns the key of hashes that all replicas have to compute alike.
func (k *Keys) Digests() [32]byte { return k.sum("digests") }

// Birthplace returns the replica on which a session began. It reports false if the ID was not made
// for this caller.
func (k *Keys) Birthplace(id string, who *presence.Caller) (replica string, ok bool) {
	if len(id) != idLength || id[randomLength] != '.' || id[randomLength+1+replicaLength] != '.' {
		return "", false
	}
	begin, tag := id[:idLength-tagLength-1], id[idLength-tagLength:]
	return begin[randomLength+1:], hmac.Equal([]byte(tag), []byte(k.tag(begin, &who.Client.Principal)))
}

// UnitOf returns the unit of a session. That of a legacy session is its ID, unless it shares its
// activations with other sessions of its client. id is "" for sessions without an ID.
func (k *Keys) UnitOf(id string, who *presence.Caller) string {
	p := who.Client.Principal
	if p.ClientID == "" && id != "" {
		return id
	}
	texts := []string{"caller", p.String()}
	if p.ClientID != "" {
		texts = []string{"client", p.Client().String(), who.Client.Agent}
	} else {
		for _, key := range slices.Sorted(maps.Keys(who.Client.Config)) {
			texts = append(texts, key, who.Client.Config[key])
		}
	}
	sum := k.sum(texts...)
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}
