package guard

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// A Certificate is where a certificate is, with those that it needs, and its key, as PEM. The zero value is none.
type Certificate struct{ Cert, Key string }

// certCheck is how often the files are looked at, at most.
const certCheck = 5 * time.Second

// config returns a configuration with the certificate, which is read again when its files have changed.
func (c Certificate) config(warn func(string, error)) (*tls.Config, error) {
	k := &keptCert{Certificate: c, warn: warn}
	if err := k.read(k.stamps()); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return k.latest(time.Now()), nil
	}}, nil
}

// A keptCert is the certificate as it was read last.
type keptCert struct {
	Certificate
	warn func(string, error)

	// guarded by mu
	mu      sync.Mutex
	cert    *tls.Certificate
	seen    [2]stamp // of the files when they were looked at
	checked time.Time
}

// A stamp changes when a file does.
type stamp struct {
	modified time.Time
	size     int64
}

// latest is the certificate of now. One that cannot be read leaves the one before.
func (k *keptCert) latest(now time.Time) *tls.Certificate {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now.Sub(k.checked) < certCheck {
		return k.cert
	}
	k.checked = now
	if found := k.stamps(); found != k.seen {
		if err := k.read(found); err != nil {
			k.seen = found // said once
			k.warn("the certificate has changed and cannot be read, the one before is used", err)
		}
	}
	return k.cert
}

func (k *keptCert) stamps() (found [2]stamp) {
	for i, path := range []string{k.Cert, k.Key} {
		if info, err := os.Stat(path); err == nil {
			found[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return found
}

// read reads both files, which were as found.
func (k *keptCert) read(found [2]stamp) error {
	cert, err := tls.LoadX509KeyPair(k.Cert, k.Key)
	if err != nil {
		return fmt.Errorf("reading the certificate %s with the key %s: %w", k.Cert, k.Key, err)
	}
	k.cert, k.seen = &cert, found
	return nil
}
