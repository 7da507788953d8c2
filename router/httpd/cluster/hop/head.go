package hop

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"toolman/router/budget"
)

// Headers of requests and responses between replicas.
const (
	prefix     = "X-Toolman-"
	headerHead = prefix + "Hop"
	// HeaderOwner is a header of a 421 response: who owns the unit, if that is known.
	HeaderOwner = prefix + "Owner"
	// headerReplica is a header of a 421 response of a replica that the request was not meant for.
	headerReplica = prefix + "Replica"
	headerID      = "X-Request-Id"
)

const (
	// Version is the version of the Head that this program writes. It reads the one before, too.
	Version = 1
	// MaxHops is how often a request may be forwarded altogether.
	MaxHops = 2
	// maxHead is the size of the longest header of a Head, encoded.
	maxHead = 64 << 10
)

// A Head is what the edge has found out about a request.
type Head struct {
	Version   int    // 0 for this program's
	From, To  string // IDs of the replicas
	Unit      string // whose owner the request is for; "" if it is for the replica itself
	RequestID string
	Principal budget.Principal
	Addr      netip.Addr // of the client
	Expires   time.Time  // of the client's credential; zero: never
	Hops      int        // how often the request was forwarded, this time included
	Local     bool       // the answer is of this replica alone
}

// wire is a Head as it is sent. The names of its members do not change with those in the program.
type wire struct {
	Version   int        `json:"v"`
	From      string     `json:"from"`
	To        string     `json:"to"`
	Unit      string     `json:"unit,omitempty"`
	RequestID string     `json:"id,omitempty"`
	Principal principal  `json:"who,omitzero"`
	Addr      netip.Addr `json:"addr,omitzero"`
	Expires   time.Time  `json:"exp,omitzero"`
	Hops      int        `json:"hops"`
	Local     bool       `json:"local,omitempty"`
}

// principal is a budget.Principal with other names.
type principal struct {
	Issuer     string `json:"iss,omitempty"`
	Subject    string `json:"sub,omitempty"`
	Agent      string `json:"agent,omitempty"`
	ClientID   string `json:"client,omitempty"`
	Restricted bool   `json:"only,omitempty"`
	Toolsets   string `json:"toolsets,omitempty"`
	Path       string `json:"path,omitempty"`
}

var errHops = errors.New("the request was forwarded too often")

// encode returns the value of the header.
func (h Head) encode() (string, error) {
	if h.Version == 0 {
		h.Version = Version
	}
	if h.Hops > MaxHops {
		return "", errHops
	}
	w := wire{h.Version, h.From, h.To, h.Unit, h.RequestID, principal(h.Principal), h.Addr, h.Expires, h.Hops, h.Local}
	text, err := json.Marshal(w)
	if err == nil && base64.RawURLEncoding.EncodedLen(len(text)) > maxHead {
		err = errors.New("what is known about the client is too long to be forwarded")
	}
	return base64.RawURLEncoding.EncodeToString(text), err
}

// Set puts the Head into a header, in place of the one that it may have.
func (h Head) Set(header http.Header) error {
	value, err := h.encode()
	if err == nil {
		header.Set(headerHead, value)
	}
	return err
}

// ReadHead returns the Head of a request that has come over a connection of this package.
func ReadHead(header http.Header) (Head, error) {
	values := header[headerHead]
	if len(values) != 1 {
		return Head{}, fmt.Errorf("the request has %d headers %s, not one", len(values), headerHead)
	}
	if len(values[0]) > maxHead {
		return Head{}, fmt.Errorf("the header %s is too long", headerHead)
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(values[0])
	if err != nil {
		return Head{}, fmt.Errorf("the header %s is not Base64: %w", headerHead, err)
	}
	var w wire
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields() // one might take rights away
	if err := in.Decode(&w); err != nil {
		return Head{}, fmt.Errorf("the header %s is malformed: %w", headerHead, err)
	}
	if _, err := in.Token(); err != io.EOF {
		return Head{}, fmt.Errorf("the header %s has more than one value", headerHead)
	}
	switch {
	case w.Version != Version && (w.Version != Version-1 || w.Version < 1):
		return Head{}, fmt.Errorf("the other replica speaks version %d, this one %d", w.Version, Version)
	case w.From == "" || w.To == "":
		return Head{}, fmt.Errorf("the header %s does not name both replicas", headerHead)
	case w.Hops > MaxHops:
		return Head{}, errHops
	case w.Hops < 1:
		return Head{}, fmt.Errorf("the header %s counts %d forwards", headerHead, w.Hops)
	case strings.ContainsFunc(w.From+w.To+w.Unit+w.RequestID, isControl):
		return Head{}, fmt.Errorf("the header %s has control characters", headerHead)
	}
	return Head{w.Version, w.From, w.To, w.Unit, w.RequestID, budget.Principal(w.Principal), w.Addr, w.Expires, w.Hops, w.Local}, nil
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }

// isPerHop reports whether a header, in canonical form, concerns one connection (RFC 9110, 7.6.1),
// or the receiver sets it itself.
func isPerHop(name string) bool {
	switch name {
	case "Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding",
		"Upgrade", "Proxy-Authenticate", "Proxy-Authorization", "Content-Length", "Date":
		return true
	}
	return false
}

// isPrivate reports whether the owner must not see or act on a header of the client: what it stands
// for is in the Head.
func isPrivate(name string) bool {
	switch name {
	case "Authorization", "Cookie", "Idempotency-Key", "X-Idempotency-Key", "Expect", "Host", headerID:
		return true
	}
	return false
}

// passes reports whether a header is passed on. named are the values of the header Connection.
func passes(name string, named []string) bool {
	if isPerHop(name) || strings.HasPrefix(name, prefix) {
		return false
	}
	for _, line := range named {
		for one := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(one), name) {
				return false
			}
		}
	}
	return true
}
