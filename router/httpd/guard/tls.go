package guard

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// A Certificate names the PEM files of a certificate chain and its key. The zero value is none.
type Certificate struct{ Cert, Key string }

// certCheck is the least interval in which the files are checked.
const certCheck = 5 * time.Second

// config returns a TLS configuration with the certificate. It is read again when its files change.
func (c Certificate) config(warn func(string, error)) (*tls.Config, error) {
	k := &loadedCert{Certificate: c, warn: warn}
	if err := k.read(k.stamps()); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return k.latest(time.Now()), nil
	}}, nil
}

// A loadedCert is the certificate as it was read last.
type loadedCert struct {
	Certificate
	warn func(string, error)

	// guarded by mu
	mu      sync.Mutex
	cert    *tls.Certificate
	seen    [2]stamp // of the files when they were checked last
	checked time.Time
}

// A stamp changes when a file does.
type stamp struct {
	modified time.Time
	size     int64
}

// latest returns the current certificate. If it cannot be read, that is the previous one.
func (k *loadedCert) latest(now time.Time) *tls.Certificate {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now.Sub(k.checked) < certCheck {
		return k.cert
	}
	k.checked = now
	if found := k.stamps(); found != k.seen {
		if err := k.read(found); err != nil {
			k.seen = found // warn once
			k.warn("the certificate has changed and cannot be read; the previous one is used", err)
		}
	}
	return k.cert
}

func (k *loadedCert) stamps() (found [2]stamp) {
	for i, path := range []string{k.Cert, k.Key} {
		if info, err := os.Stat(path); err == nil {
			found[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return found
}

// read reads both files, which had these stamps.
func (k *loadedCert) read(found [2]stamp) error {
	cert, err := tls.LoadX509KeyPair(k.Cert, k.Key)
	if err != nil {
		return fmt.Errorf("reading the certificate %s with the key %s: %w", k.Cert, k.Key, err)
	}
	k.cert, k.seen = &cert, found
	return nil
}
