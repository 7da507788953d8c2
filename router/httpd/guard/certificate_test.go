package guard

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certify writes a certificate of its own making for 127.0.0.1.
func certify(t *testing.T, c Certificate, serial int64) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{c.Cert: {Type: "CERTIFICATE", Bytes: der}, c.Key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func certFiles(t *testing.T) Certificate {
	dir := t.TempDir()
	return Certificate{filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key")}
}

func TestOverTLS(t *testing.T) {
	files := certFiles(t)
	cert := certify(t, files, 1)
	g, s := guarded(t, Options{}, files)
	l, err := g.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go serve(s, l)
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	for name, transport := range map[string]*http.Transport{
		"HTTP/1.1": {TLSClientConfig: &tls.Config{RootCAs: roots}},
		"HTTP/2.0": {TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true},
	} {
		c := &http.Client{Transport: transport}
		resp, err := c.Post("https://"+l.Addr().String()+"/mcp", "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if resp.Proto != name {
			t.Errorf("%s: got %s", name, resp.Proto)
		}
		received(t, resp).identity(t)
		c.CloseIdleConnections()
	}
	if c, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}); err == nil {
		c.Close()
		t.Errorf("TLS 1.1 is spoken")
	}
}

func TestACertificateIsReadAgainWhenItChanges(t *testing.T) {
	files := certFiles(t)
	certify(t, files, 1)
	var warned []string
	c := &loadedCert{Certificate: files, warn: func(what string, err error) { warned = append(warned, what+": "+err.Error()) }}
	now := time.Now()
	serial := func() int64 {
		now = now.Add(certCheck)
		return c.latest(now).Leaf.SerialNumber.Int64()
	}
	touch := func() { // file systems tell times apart only so far
		for _, path := range []string{files.Cert, files.Key} {
			if err := os.Chtimes(path, now, now); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := serial(); n != 1 {
		t.Errorf("the certificate is number %d", n)
	}
	certify(t, files, 2)
	touch()
	if n := c.latest(now).Leaf.SerialNumber.Int64(); n != 1 {
		t.Errorf("the files are looked at all the time: number %d", n)
	}
	if n := serial(); n != 2 {
		t.Errorf("the certificate is number %d, want the new one", n)
	}
	if err := os.WriteFile(files.Cert, []byte("half a certifi"), 0o600); err != nil {
		t.Fatal(err)
	}
	touch()
	if one, two := serial(), serial(); one != 2 || two != 2 || len(warned) != 1 {
		t.Errorf("with a broken file the certificate is number %d, then %d; warned %q", one, two, warned)
	}
	certify(t, files, 3)
	if n := serial(); n != 3 {
		t.Errorf("the certificate is number %d, want the mended one", n)
	}
}

func TestWithoutItsCertificateNoServer(t *testing.T) {
	g, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	files := certFiles(t)
	if _, err := g.Server(http.NotFoundHandler(), files, nil); err == nil || !strings.Contains(err.Error(), files.Cert) {
		t.Errorf("got %v", err)
	}
}
