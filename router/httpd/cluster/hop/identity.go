package hop

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
)

const (
	// minSecret is the size of the shortest secret, in bytes.
	minSecret = 32
	// purpose separates these keys from others that are derived from the same secrets.
	purpose = "toolman hop ed25519 1"
)

// An Identity holds the keys of one cluster: one of each secret. Both ends of a connection have the
// same keys.
type Identity struct {
	certificates []tls.Certificate // the preferred one comes first
	names        []string          // of the keys, in the same order
}

// NewIdentity derives the keys of the cluster of this name. The first secret makes the preferred
// key; all are accepted.
func NewIdentity(secrets [][]byte, cluster string) (*Identity, error) {
	if len(secrets) == 0 {
		return nil, errors.New("the cluster has no secret")
	}
	i := &Identity{}
	for n, secret := range secrets {
		if len(secret) < minSecret {
			return nil, fmt.Errorf("secret %d of the cluster has %d bytes; it must have at least %d", n+1, len(secret), minSecret)
		}
		seed, err := hkdf.Key(sha256.New, secret, []byte(cluster), purpose, ed25519.SeedSize)
		if err != nil {
			return nil, err
		}
		if err := i.add(ed25519.NewKeyFromSeed(seed)); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// add adds a key with a certificate, which is the same whenever it is made.
func (i *Identity) add(key ed25519.PrivateKey) error {
	public := key.Public().(ed25519.PublicKey)
	sum := sha256.Sum256(public)
	name := hex.EncodeToString(sum[:8])
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: name},
		DNSNames:     []string{name},
		NotBefore:    time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:     time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), // RFC 5280, 4.1.2.5: no end
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		return err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return err
	}
	i.names = append(i.names, name)
	i.certificates = append(i.certificates, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf})
	return nil
}

// Server returns the configuration of the side that listens.
func (i *Identity) Server() *tls.Config {
	known := x509.NewCertPool()
	for _, one := range i.certificates {
		known.AddCert(one.Leaf)
	}
	return &tls.Config{
		MinVersion:                  tls.VersionTLS13,
		GetCertificate:              i.serverCertificate,
		ClientAuth:                  tls.RequireAnyClientCert, // VerifyConnection compares the keys
		ClientCAs:                   known,                    // tells clients which keys are accepted
		VerifyConnection:            i.verify,
		SessionTicketsDisabled:      true, // a ticket would look like an answer on an idle connection
		DynamicRecordSizingDisabled: true,
	}
}

// Client returns the configuration of the side that connects.
func (i *Identity) Client() *tls.Config {
	return &tls.Config{
		MinVersion:                  tls.VersionTLS13,
		ServerName:                  strings.Join(i.names, "."),
		InsecureSkipVerify:          true, // VerifyConnection compares the keys
		VerifyConnection:            i.verify,
		GetClientCertificate:        i.clientCertificate,
		SessionTicketsDisabled:      true,
		DynamicRecordSizingDisabled: true,
	}
}

// serverCertificate returns the first certificate whose key the client has.
func (i *Identity) serverCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	accepted := strings.Split(hello.ServerName, ".")
	for n, name := range i.names {
		if slices.Contains(accepted, name) {
			return &i.certificates[n], nil
		}
	}
	return &i.certificates[0], nil
}

// clientCertificate returns the first certificate whose key the server has.
func (i *Identity) clientCertificate(request *tls.CertificateRequestInfo) (*tls.Certificate, error) {
	for n := range i.certificates {
		if request.SupportsCertificate(&i.certificates[n]) == nil {
			return &i.certificates[n], nil
		}
	}
	return &i.certificates[0], nil
}

var errStranger = errors.New("the other side of the connection has no key of this cluster")

// verify accepts the keys of the cluster, and no others. TLS has checked that the peer has the
// private key.
func (i *Identity) verify(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return errStranger
	}
	peer := state.PeerCertificates[0].PublicKey
	for _, one := range i.certificates {
		if key, ok := one.Leaf.PublicKey.(ed25519.PublicKey); ok && key.Equal(asKey(peer)) {
			return nil
		}
	}
	return errStranger
}

// asKey returns an Ed25519 key, or nil for a key of another kind.
func asKey(public any) ed25519.PublicKey {
	key, _ := public.(ed25519.PublicKey)
	return key
}
