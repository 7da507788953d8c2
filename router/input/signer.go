package input

import (
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

// stateLife is how long a client may take over its answers.
const stateLife = 10 * time.Minute

// A requestState is what a client gives back with its answers (2026-07-28, Multi
// Round-Trip Requests). What comes back may be anything, so it is signed, and good
// for the request that it was given for.
type requestState struct {
	kind    stateKind
	handle  handle
	expires int64 // on the router's clock
}

// A stateKind says what becomes of a request that comes with a state.
type stateKind byte

const (
	stateResume  stateKind = iota + 1 // it gets the answer of the suspended call with the handle
	stateAgain                        // it is passed on, as if it came for the first time
	stateConfirm                      // it is passed on, if a person has agreed to it (confirm.go)
)

// A handle names a suspended call.
type handle [16]byte

func newCallID() (h handle) {
	rand.Read(h[:]) // does not fail
	return h
}

const (
	plainBytes = 1 + len(handle{}) + 8
	stateBytes = plainBytes + sha256.Size
)

var stateText = base64.RawURLEncoding.Strict()

// A Signer signs states and reads its own again. There is one for a router: nothing
// that was signed before toolman was started is good any more.
type Signer struct {
	key  [sha256.Size]byte
	seed maphash.Seed
}

func NewSigner() *Signer {
	s := &Signer{seed: maphash.MakeSeed()}
	rand.Read(s.key[:]) // does not fail
	return s
}

// A requestHash stands for what a request asks for: its method, whom, and every byte of
// its arguments. It is computed for each call that may be asked something, which
// is why it is no cryptographic hash; nobody but the signer ever sees it.
type requestHash uint64

func (s *Signer) requestHash(m *jsonrpc.Message, method mcpwire.Method, t catalog.Target) requestHash {
	arguments, _ := m.Param("arguments") // an unclear one is none, as it was the first time
	var h maphash.Hash
	h.SetSeed(s.seed)
	for _, part := range [...]string{string(method), t.Source.Name, t.Name()} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.WriteString(part)
	}
	h.Write(m.Bytes(arguments))
	return requestHash(h.Sum64())
}

// hash stands for a state that somebody else has made, as a subject does for a request.
func (s *Signer) hash(state []byte) uint64 { return maphash.Bytes(s.seed, state) }

// signState returns a state as the client of a principal gets it.
func (s *Signer) signState(st requestState, about requestHash, who budget.Principal) string {
	raw := append(make([]byte, 0, stateBytes), byte(st.kind))
	raw = append(raw, st.handle[:]...)
	raw = binary.BigEndian.AppendUint64(raw, uint64(st.expires))
	return stateText.EncodeToString(s.sign(raw, raw, about, who))
}

// sign appends the signature of a state to dst. The state is good for one principal and no other.
func (s *Signer) sign(dst, plain []byte, about requestHash, who budget.Principal) []byte {
	mac := hmac.New(sha256.New, s.key[:])
	mac.Write(plain)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(about)))
	mac.Write([]byte(who.String()))
	return mac.Sum(dst)
}

// verifyState reads a state. It reports false when the text is not what seal has returned for this subject and this
// budget. Whether the state has expired is the caller's to ask.
func (s *Signer) verifyState(text []byte, about requestHash, who budget.Principal) (st requestState, ok bool) {
	var raw [stateBytes]byte
	if len(text) != stateText.EncodedLen(stateBytes) {
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
