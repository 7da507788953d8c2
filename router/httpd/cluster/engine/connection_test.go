package engine

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	client "github.com/valkey-io/valkey-go"

	"toolman/fixtures/process"
	"toolman/fixtures/valkey"
)

func TestOpenRefuses(t *testing.T) {
	for _, test := range []struct {
		url    string
		change func(*Options)
		want   string
	}{
		{"rediss://toolman:s3cr3tpw@valkey:6379?skip_verify=true", nil, "engine_ca"},
		{"rediss://toolman:s3cr3tpw@valkey:6379?skip_verify", nil, "skip_verify"},
		{"redis://toolman:s3cr3tpw@valkey:6379", nil, "engine_plaintext"},
		{"redis://toolman:s3cr3tpw@10.0.0.1", nil, "rediss://"},
		{"valkey://toolman:s3cr3tpw@127.0.0.1?addr=10.0.0.1:6379", nil, "valkeys://"},
		{"redis://localhost.example.com", nil, "engine_plaintext"},
		{"rediss://toolman:s3cr3tpw@valkey?addr=other", nil, "HOST:PORT"},
		{"rediss://toolman:s3cr3tpw@valkey?conn=5", nil, `"conn"`},
		{"rediss://toolman:s3cr3tpw@valkey/zero", nil, "database"},
		{"rediss://toolman:s3cr3tpw@", nil, "host"},
		{"rediss://toolman:s3cr3tpw@valkey:port", nil, "cannot be read"},
		{"rediss://toolman:s3cr3tpw@valkey?addr=%zz:1", nil, "cannot be read"},
		{"rediss://toolman:s3cr3tpw@valkey#0", nil, "cannot be read"},
		{"unix:///s3cr3tpw", nil, "rediss://"},
		{"toolman:s3cr3tpw@valkey", nil, "not a URL"},
		{"", nil, "not a URL"},
		{"redis://:s3cr3tpw@localhost", func(o *Options) { o.CA = "ca.pem" }, "engine_ca"},
		{"rediss://valkey", func(o *Options) { o.CA = filepath.Join(t.TempDir(), "ca.pem") }, "engine_ca"},
		{"redis://localhost", func(o *Options) { o.Secrets = [][]byte{secretA, []byte("s3cr3tpw")} }, "number 2 has 8 bytes"},
		{"redis://localhost", func(o *Options) { o.Secrets = nil }, "openssl"},
		{"redis://localhost", func(o *Options) { o.Name = "a}b" }, "name"},
		{"redis://localhost", func(o *Options) { o.Name = "" }, "name"},
		{"redis://localhost", func(o *Options) { o.Replica = "A" }, "replica"},
		{"redis://localhost", func(o *Options) { o.Lease = 1 }, "lease"},
	} {
		o := Options{URL: test.url, Name: "test", Secrets: [][]byte{secretA}, Replica: "aaaaaaaa"}
		if test.change != nil {
			test.change(&o)
		}
		e, err := Open(o)
		if err == nil {
			e.Close()
			t.Errorf("%s was accepted", test.url)
		} else if text := err.Error(); !strings.Contains(text, test.want) || strings.Contains(text, "s3cr3tpw") {
			t.Errorf("%s: %v", test.url, err)
		}
	}
}

func TestURL(t *testing.T) {
	for _, test := range []struct{ url, user, password, addresses, master string }{
		{"redis://localhost", "", "", "localhost:6379", ""},
		{"valkeys://:p@w/o?r#d+%@valkey:1/2", "", "p@w/o?r#d+%", "valkey:1", ""},
		{"rediss://u%40:a%20b@[::1]?addr=h2:2&addr=h3:3", "u@", "a b", "[::1]:6379 h2:2 h3:3", ""},
		{"rediss://a:26379?addr=b:26379&master_set=mymaster", "", "", "a:26379 b:26379", "mymaster"},
	} {
		o, password, err := parse(Options{URL: test.url})
		if err != nil || o.Username != test.user || o.Password != test.password || password != test.password ||
			strings.Join(o.InitAddress, " ") != test.addresses || o.Sentinel.MasterSet != test.master ||
			o.ForceSingleClient != (len(o.InitAddress) == 1) || (o.TLSConfig != nil) != (o.Sentinel.TLSConfig != nil) {
			t.Errorf("%s: %+v, %v", test.url, o, err)
		}
	}
}

// TestPlaintextPrimary has a Sentinel on this machine name a primary on another one.
func TestPlaintextPrimary(t *testing.T) {
	url := "redis://localhost:26379?master_set=mymaster"
	o, _, err := parse(Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.DialCtxFn(soon(t), "192.0.2.1:6379", &o.Dialer, nil); err == nil || !strings.Contains(err.Error(), "engine_plaintext") {
		t.Error(err)
	}
	if o, _, err = parse(Options{URL: url, Plaintext: true}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := o.DialCtxFn(ctx, "192.0.2.1:6379", &o.Dialer, nil); err == nil || strings.Contains(err.Error(), "engine_plaintext") {
		t.Error(err)
	}
}

func TestEngineRestarts(t *testing.T) {
	s := valkey.New(t)
	a := opened(t, s.URL, "aaaaaaaa")
	ctx := soon(t)
	if _, err := a.Join(ctx); err == nil || !strings.Contains(err.Error(), "refused") || ctx.Err() != nil {
		t.Errorf("nobody listens: %v, and then %v", err, ctx.Err())
	}
	s.Restart()
	key := join(t, a)
	beat(t, a)
	put(t, a, "unit", "key", "record")
	s.Kill()
	eventually(t, "calls fail", func() bool { _, err := a.Get(soon(t), "key"); return err != nil })
	if _, _, err := a.Beat(soon(t), Lease{}); err == nil {
		t.Error("a Beat without an engine")
	}
	s.Restart()
	eventually(t, "calls succeed", func() bool { _, err := a.Get(soon(t), "key"); return err == nil })
	wantLost(t, a, true)
	put(t, a, "unit", "key", "record")
	wantLost(t, a, false)
	if join(t, a) != key {
		t.Error("another key")
	}
	a.Close()
	if _, err := a.Get(soon(t), "key"); err != ErrClosed {
		t.Errorf("after Close: %v", err)
	}
}

// TestEngineHangs keeps every call to its context while the engine does not answer, also when there
// are many, and goes on when it answers.
func TestEngineHangs(t *testing.T) {
	s := valkey.Start(t)
	a := joined(t, s.URL, "aaaaaaaa")
	answers := func() bool { _, err := a.Get(soon(t), "key"); return err == nil }
	for tries := 5; ; tries-- { // on a busy machine a call may end late, though not each time
		s.Pause()
		took := manyGets(t, a)
		if took <= 1500*time.Millisecond {
			break
		}
		if tries == 1 {
			t.Fatalf("calls of 200 ms take %v", took)
		}
		s.Resume()
		eventually(t, "it answers", answers)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := a.Get(ctx, "key"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.Resume()
	eventually(t, "it answers", answers)
	eventually(t, "nothing waits", func() bool { return len(a.calls) == 0 })
}

// manyGets makes many calls of 200 ms that the engine does not answer, and returns how long all take
// together.
func manyGets(t *testing.T, a *Engine) time.Duration {
	t.Helper()
	began := time.Now()
	var all sync.WaitGroup
	for range 300 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
			defer cancel()
			if _, err := a.Get(ctx, "key"); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	return time.Since(began)
}

// TestGivenUp has the library not send a command of a caller that does not wait any more: it could
// overtake the caller's next one.
func TestGivenUp(t *testing.T) {
	s := valkey.Start(t)
	a := joined(t, s.URL, "aaaaaaaa")
	put(t, a, "unit", "key", "record")
	caller, cancel := context.WithCancel(context.Background())
	_, err := run(caller, a, func(ctx context.Context, c client.Client) (int64, error) {
		cancel()
		err := c.Do(ctx, c.B().Flushall().Build()).Error()
		if !errors.Is(err, context.Canceled) || mayHaveRun(ctx, err) {
			t.Errorf("the command's error is %v", err)
		}
		return 0, err
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	eventually(t, "the library has returned", func() bool { return len(a.calls) == 0 })
	wantRecord(t, a, "key", "record")
}

// TestRights gives the engine's user the rights that the package's documentation lists, and no
// more.
func TestRights(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "ACL SETUSER toolman ")
	list, _, _ = strings.Cut(list, "\n//\n")
	list = strings.NewReplacer("PASSWORD", "s3cr3tpw", "NAME", "test", "//", "").Replace(list)
	s := valkey.Start(t)
	s.Command(append([]string{"ACL", "SETUSER", "toolman"}, strings.Fields(list)...)...)
	s.Command("ACL", "SETUSER", "default", "off")
	url := strings.Replace(s.URL, "//", "//toolman:s3cr3tpw@", 1)

	a := joined(t, url, "aaaaaaaa", func(o *Options) { o.Secrets = [][]byte{secretB} })
	b := joined(t, url, "bbbbbbbb", func(o *Options) { o.Secrets = [][]byte{secretA, secretB} }) // seals the key anew
	put(t, a, "unit", "key", "record")
	claim(t, b, "unit", "aaaaaaaa")
	_, _, documentErr := a.Document(soon(t), "d")
	_, setErr := a.SetDocument(soon(t), "d", []byte("text"), 0)
	_, takeErr := a.Take(soon(t), "bucket", 1, 1, 1)
	_, renewErr := b.Renew(soon(t), []string{"unit"}, []string{"key"}, ttl)
	policy, policyErr := a.Policy(soon(t))
	for i, err := range []error{
		documentErr, setErr, takeErr, renewErr, policyErr, b.Yield(soon(t), "unit", "aaaaaaaa", ttl),
		a.Release(soon(t), "unit"), a.Forget(soon(t), "unit", "key", true), a.Leave(soon(t)),
	} {
		if err != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if policy != "" {
		t.Errorf("policy %q without the right to know it", policy)
	}

	other := opened(t, url, "cccccccc", func(o *Options) { o.Name = "other" })
	if _, err := other.Join(soon(t)); err == nil || !strings.Contains(err.Error(), "NOPERM") || !strings.Contains(err.Error(), "rights") {
		t.Errorf("another cluster's keys: %v", err)
	}
	wrong := opened(t, strings.Replace(url, "s3cr3tpw", "wr0ngpw", 1), "cccccccc")
	if _, err := wrong.Join(soon(t)); err == nil || !strings.Contains(err.Error(), "check user and password") || strings.Contains(err.Error(), "wr0ngpw") {
		t.Errorf("a wrong password: %v", err)
	}
}

func TestPolicy(t *testing.T) {
	s := valkey.Start(t, "--maxmemory-policy", "allkeys-lru")
	if policy, err := opened(t, s.URL, "aaaaaaaa").Policy(soon(t)); err != nil || policy != "allkeys-lru" {
		t.Errorf("%q, %v", policy, err)
	}
}

// TestQuotedCommand has an engine that does not know HELLO and quotes it, with the password.
func TestQuotedCommand(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				buffer := make([]byte, 4096)
				for {
					if _, err := conn.Read(buffer); err != nil {
						return
					}
					_, _ = io.WriteString(conn, "-ERR bad command HELLO 3 AUTH toolman s3cr/t s3cr%2Ft\r\n")
				}
			}()
		}
	}()
	a := opened(t, "redis://toolman:s3cr%2Ft@"+l.Addr().String(), "aaaaaaaa")
	if _, err := a.Join(soon(t)); err == nil || !strings.Contains(err.Error(), "***") || strings.Contains(err.Error(), "s3cr") {
		t.Error(err)
	}
}

func TestTLS(t *testing.T) {
	dir := t.TempDir()
	ca, cert, key := certificates(t, dir)
	port := process.FreePort(t)
	valkey.Start(t, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", ca, "--tls-auth-clients", "no")
	url := "rediss://127.0.0.1:" + port
	a := joined(t, url, "aaaaaaaa", func(o *Options) { o.CA = ca })
	put(t, a, "unit", "key", "record")
	wantRecord(t, a, "key", "record")
	unknown := opened(t, url, "bbbbbbbb")
	if _, err := unknown.Join(soon(t)); err == nil || !strings.Contains(err.Error(), "engine_ca") {
		t.Errorf("with a certificate that nobody vouches for: %v", err)
	}
	named := opened(t, "rediss://localhost:"+port, "bbbbbbbb", func(o *Options) { o.CA = ca })
	if _, err := named.Join(soon(t)); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("with the certificate of another host: %v", err)
	}
}

// certificates writes those of a CA and of the host 127.0.0.1, and the host's key.
func certificates(t *testing.T, dir string) (ca, cert, key string) {
	t.Helper()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	make := func(template, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if parentKey == nil {
			parent, parentKey = template, k
		}
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, template, parent, &k.PublicKey, parentKey)
		if err != nil {
			t.Fatal(err)
		}
		return der, k
	}
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	rootDER, rootKey := make(root, nil, nil)
	hostDER, hostKey := make(&x509.Certificate{SerialNumber: big.NewInt(2), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}, root, rootKey)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(hostKey)
	if err != nil {
		t.Fatal(err)
	}
	return write("ca.pem", "CERTIFICATE", rootDER), write("cert.pem", "CERTIFICATE", hostDER), write("key.pem", "PRIVATE KEY", pkcs8)
}

// A relayed address is one name for several engines in turn.
type relayed struct {
	addr   string
	mu     sync.Mutex
	target string
	conns  []net.Conn
}

func relay(t *testing.T, target string) *relayed {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relayed{addr: l.Addr().String(), target: target}
	t.Cleanup(func() { l.Close(); r.to("") })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			r.mu.Lock()
			server, err := net.Dial("tcp", r.target)
			if err != nil {
				client.Close()
			} else {
				r.conns = append(r.conns, client, server)
				go func() { _, _ = io.Copy(server, client); server.Close() }()
				go func() { _, _ = io.Copy(client, server); client.Close() }()
			}
			r.mu.Unlock()
		}
	}()
	return r
}

// next sends new connections elsewhere.
func (r *relayed) next(target string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.target = target
}

// to ends all connections, too.
func (r *relayed) to(target string) {
	r.next(target)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range r.conns {
		conn.Close()
	}
	r.conns = nil
}
