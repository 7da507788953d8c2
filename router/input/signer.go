package input

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash/maphash"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/budget"
	"toolman/router/catalog"
)

// stateLifetime is the time that a client has for its answers.
const stateLifetime = 10 * time.Minute

// A requestState is the opaque value that a modern client returns with its answers (2026-07-28,
// Multi Round-Trip Requests). The client may send anything, so toolman signs the state, and a state
// is valid only for the request that it was issued for.
type requestState struct {
	kind    stateKind
	handle  handle
	expires int64 // on the router's clock
}

// A stateKind says how toolman handles a request that contains the state.
type stateKind byte

const (
	stateResume  stateKind = iota + 1 // resume the suspended call with the handle
	stateRepeat                       // forward the request like a new one
	stateConfirm                      // forward the request if the user has confirmed it (confirm.go)
)

// A handle identifies a suspended call.
type handle [16]byte

func newHandle() (h handle) {
	rand.Read(h[:]) // does not fail
	return h
}

const (
	plainBytes = 1 + len(handle{}) + 8
	stateBytes = plainBytes + sha256.Size
)

var stateText = base64.RawURLEncoding.Strict()

// A Signer signs request states and verifies them. A router has one Signer with a random key, so
// states from before a restart are invalid.
type Signer struct {
	key    [sha256.Size]byte
	seed   maphash.Seed
	prefix string // of the texts of states
}

// NewSigner returns a Signer with a random key. replica is the ID of this replica of a cluster, or
// "": states contain it, so that another replica can find out whose they are with [StateReplica].
func NewSigner(replica string) *Signer {
	s := &Signer{seed: maphash.MakeSeed(), prefix: statePrefix(replica)}
	rand.Read(s.key[:]) // does not fail
	return s
}

// replicaState begins the states of a replica, followed by its ID and a dot.
const replicaState = "tm1."

func statePrefix(replica string) string {
	if replica == "" {
		return ""
	}
	return replicaState + replica + "."
}

// StateReplica returns the ID of the replica that has issued the request state in a message; "" if
// none has.
func StateReplica(m *jsonrpc.Message) string {
	state, err := m.Param("requestState")
	if err != nil || !state.Present() || !m.IsString(state) {
		return ""
	}
	rest, ours := bytes.CutPrefix(m.Text(state), []byte(replicaState))
	replica, _, whole := bytes.Cut(rest, []byte("."))
	if !ours || !whole {
		return ""
	}
	return string(replica)
}

// A RequestHash identifies what a request asks for: its method, its target, and every byte of its
// arguments. toolman computes it for each call that may need input, so it is not a cryptographic
// hash. It never leaves the process.
type RequestHash uint64

// requestHash returns the hash of a request with this method and target.
func (s *Signer) requestHash(m *jsonrpc.Message, method mcpwire.Method, t catalog.Target) RequestHash {
	arguments, _ := m.Param("arguments") // ambiguous arguments hash like missing ones, in every attempt
	var h maphash.Hash
	h.SetSeed(s.seed)
	for _, part := range [...]string{string(method), t.Source.Name, t.Name()} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.WriteString(part)
	}
	h.Write(m.Bytes(arguments))
	return RequestHash(h.Sum64())
}

// hash returns the hash of a state that another server has issued.
func (s *Signer) hash(state []byte) uint64 { return maphash.Bytes(s.seed, state) }

// signState returns the signed text of a state for the client of a principal.
func (s *Signer) signState(st requestState, about RequestHash, who budget.Principal) string {
	raw := append(make([]byte, 0, stateBytes), byte(st.kind))
	raw = append(raw, st.handle[:]...)
	raw = binary.BigEndian.AppendUint64(raw, uint64(st.expires))
	return s.prefix + stateText.EncodeToString(s.sign(raw, raw, about, who))
}

// sign appends the signature of a state to dst. The state is valid only for one principal.
func (s *Signer) sign(dst, plain []byte, about RequestHash, who budget.Principal) []byte {
	mac := hmac.New(sha256.New, s.key[:])
	mac.Write(plain)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(about)))
	mac.Write([]byte(who.String()))
	return mac.Sum(dst)
}

// verifyState parses a signed state. It reports false when the text is not a result of signState
// for this request and this principal. The caller must check whether the state has expired.
func (s *Signer) verifyState(text []byte, about RequestHash, who budget.Principal) (st requestState, ok bool) {
	var raw [stateBytes]byte
	text, ours := bytes.CutPrefix(text, []byte(s.prefix))
	if !ours || len(text) != stateText.EncodedLen(stateBytes) {
		return st, false
	}
	if _, err := stateText.Decode(raw[:], text); err != nil {
		return st, false
	}
	plain, signature := raw[:plainBytes], raw[plainBytes:]
	if !hmac.Equal(signature, s.sign(nil, plain, about, who)) {
		return st, false
	}
	st.kind = stateKind(plain[0])
	copy(st.handle[:], plain[1:])
	st.expires = int64(binary.BigEndian.Uint64(plain[1+len(st.handle):]))
	return st, true
}
