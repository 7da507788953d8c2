package cluster

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"toolman/router/budget"
	"toolman/router/httpd/presence"
)

// keys make and check what only replicas of the cluster can make.
type keys struct {
	macs sync.Pool // of hash.Hash
}

func newKeys(of [32]byte) *keys {
	key, err := hkdf.Key(sha256.New, of[:], nil, "toolman cluster names", sha256.Size)
	if err != nil {
		panic(err) // only for a longer key
	}
	return &keys{sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}}
}

// sum returns the HMAC of some texts.
func (k *keys) sum(texts ...string) (sum [sha256.Size]byte) {
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
func (k *keys) tag(id string, p *budget.Principal) string {
	sum := k.sum("id", id, p.String())
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}

// birthplace returns the replica on which a session began. It reports false if the ID was not made
// for this caller.
func (k *keys) birthplace(id string, who *presence.Caller) (replica string, ok bool) {
	if len(id) != idLength || id[randomLength] != '.' || id[randomLength+1+replicaLength] != '.' {
		return "", false
	}
	begin, tag := id[:idLength-tagLength-1], id[idLength-tagLength:]
	return begin[randomLength+1:], hmac.Equal([]byte(tag), []byte(k.tag(begin, &who.Client.Principal)))
}

// unitOf returns the unit of a session. That of a legacy session is its ID, unless it shares its
// activations with other sessions of its client. id is "" for sessions without an ID.
func (k *keys) unitOf(id string, who *presence.Caller) string {
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

// idIn returns the ID of the legacy session in the key of a presence.Keeper; "" if the key is that
// of a caller.
func idIn(key string) string {
	_, id, _ := strings.Cut(key, " ")
	if strings.Contains(id, "\n") {
		return ""
	}
	return id
}
