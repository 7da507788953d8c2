package hop

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"testing"
	"time"
)

func TestKeysAreDerived(t *testing.T) {
	one, again := identity(t, 1, 2), identity(t, 1, 2)
	for n := range one.certificates {
		if !bytes.Equal(one.certificates[n].Certificate[0], again.certificates[n].Certificate[0]) {
			t.Errorf("certificate %d differs", n)
		}
	}
	other, err := NewIdentity([][]byte{secret(1)}, "other")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{one.names[0]: true, one.names[1]: true, other.names[0]: true, identity(t, 3).names[0]: true}
	if len(seen) != 4 {
		t.Errorf("the keys of different secrets or clusters are equal: %v", seen)
	}
	for name, secrets := range map[string][][]byte{"none": nil, "short": {make([]byte, minSecret-1)}, "second short": {secret(1), nil}} {
		if _, err := NewIdentity(secrets, "test"); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestReplicasThatShareASecretReachEachOther(t *testing.T) {
	sets := map[string][]byte{"old": {1}, "old, new": {1, 2}, "new, old": {2, 1}, "new": {2}}
	for there, theirs := range sets {
		o := own(t, identity(t, theirs...), func(w http.ResponseWriter, r *http.Request, _ Head) { io.WriteString(w, "{}") })
		for here, ours := range sets {
			shared := len(ours) > 1 || len(theirs) > 1 || ours[0] == theirs[0]
			_, got := post(t.Context(), newClient(t, identity(t, ours...)), o.address, "{}")
			if shared != (got.Err == nil) || got.Refused == shared || got.Sent != shared {
				t.Errorf("[%s] to [%s]: %+v", here, there, got)
			}
		}
	}
}

func TestStrangersAreRefused(t *testing.T) {
	keys := identity(t, 1)
	o := own(t, keys, func(http.ResponseWriter, *http.Request, Head) { t.Error("a stranger's request is served") })
	public, private, _ := ed25519.GenerateKey(rand.Reader)
	// A stranger's certificate has the names of the real one.
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: keys.certificates[0].Leaf.Subject, DNSNames: keys.names, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	forged := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
	// The public certificate is no secret; without its key it is of no use.
	stolen := tls.Certificate{Certificate: keys.certificates[0].Certificate, PrivateKey: private}
	for name, c := range map[string]*tls.Config{
		"no certificate":       {InsecureSkipVerify: true},
		"own key":              {InsecureSkipVerify: true, Certificates: []tls.Certificate{forged}},
		"stolen certificate":   {InsecureSkipVerify: true, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &stolen, nil }},
		"another secret":       identity(t, 9).Client(),
		"an old version":       {InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, Certificates: keys.certificates},
		"own key after theirs": {InsecureSkipVerify: true, Certificates: []tls.Certificate{{Certificate: [][]byte{der, keys.certificates[0].Certificate[0]}, PrivateKey: private}}},
	} {
		if c.VerifyConnection != nil {
			c.VerifyConnection = nil // this client does not mind
		}
		conn, err := tls.Dial("tcp", o.address, c)
		if err == nil {
			status := talk(t, conn)
			if status != "" {
				t.Errorf("%s: got %s", name, status)
			}
		}
	}
	plain, err := net.Dial("tcp", o.address)
	if err != nil {
		t.Fatal(err)
	}
	if status := talk(t, plain); status != "HTTP/1.0 400 Bad Request" { // net/http's hint
		t.Errorf("plaintext: got %q", status)
	}
}

// talk sends a request with a Head, and returns the first line of the response.
func talk(t *testing.T, c net.Conn) string {
	t.Helper()
	defer c.Close()
	text, err := appendHead(nil, "GET", "/", "x", nil, 0, head())
	if err != nil {
		t.Fatal(err)
	}
	c.Write(text)
	c.SetReadDeadline(time.Now().Add(patient))
	answer, err := io.ReadAll(c)
	if errors.Is(err, context.DeadlineExceeded) {
		t.Error("the connection stays open")
	}
	line, _, _ := bytes.Cut(answer, []byte("\r\n"))
	return string(line)
}

func TestServersThatAreNoReplicas(t *testing.T) {
	keys := identity(t, 1)
	for name, serve := range map[string]func(net.Conn){
		"plain HTTP":     func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") },
		"another secret": func(c net.Conn) { tls.Server(c, identity(t, 2).Server()).Handshake() },
		"no shared version": func(c net.Conn) {
			config := keys.Server()
			config.MinVersion, config.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
			tls.Server(c, config).Handshake()
		},
	} {
		l := listen(t)
		go func() {
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				serve(c)
			}
		}()
		_, got := post(t.Context(), newClient(t, keys), l.Addr().String(), "{}")
		if !got.Refused || got.Sent || !errors.Is(got.Err, ErrRefused) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
