package recall

import (
	"crypto/sha256"
	"encoding/hex"

	"toolman/mcpwire"
)

// An Offered is what a server offered to a client.
type Offered struct {
	Client string                   // the Key of the client
	Result mcpwire.InitializeResult // of the handshake
	Lists  [mcpwire.Kinds][]mcpwire.Item
}

// A Memory stores what one server offers. Its methods may wait for the disk.
type Memory interface {
	// Recall returns what the server offered to a client with this key. If that is not known, or
	// the key is "", it returns what the server offered last. It returns nil if nothing is known.
	Recall(key string) *Offered
	// Remember stores what the server offers to a client now. It writes only what has changed.
	Remember(c Client, o *Offered) error
}

// A Client is a kind of clients, to which a server offers the same.
type Client struct {
	Key  string // differs between clients to which a server may offer different items
	Name string // what such a client calls itself; for people
}

// ClientOf returns the kind of a client. A server may list its items depending on what it is told in
// the handshake: the era, the capabilities and the client's name. The client's version does not
// count: it changes often, and items hardly ever depend on it.
func ClientOf(first mcpwire.Era, h *mcpwire.Hello) Client {
	hash := sha256.New()
	for _, part := range [][]byte{[]byte(first.String()), h.Relayed(), []byte(h.Name)} {
		size := len(part)
		hash.Write([]byte{byte(size), byte(size >> 8), byte(size >> 16)})
		hash.Write(part)
	}
	return Client{Key: hex.EncodeToString(hash.Sum(nil)[:8]), Name: h.Name}
}
