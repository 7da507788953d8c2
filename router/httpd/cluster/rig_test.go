package cluster

import (
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"toolman/fixtures/valkey"
	"toolman/router/budget"
	"toolman/router/httpd/cluster/engine"
	"toolman/router/httpd/cluster/hop"
	"toolman/router/httpd/presence"
)

// patient is how long a test waits for what must happen.
const patient = time.Minute

var secret = bytes.Repeat([]byte("s"), 32)

// A replica is a Cluster with a front that answers requests with its ID. Clients name themselves in
// the header X-Who.
type replica struct {
	t testing.TB
	*Cluster
	engine  *engine.Engine
	edge    *httptest.Server // for clients
	budgets *budget.Budgets
	run     func() // starts Run
	stop    func() // ends Run, and nobody listens for other replicas any more
	// serve answers the requests that are served here; nil: with the ID.
	serve func(w http.ResponseWriter, r *http.Request)
}

// start starts a replica, which has joined.
func start(t testing.TB, server *valkey.Server, change ...func(*Options)) *replica {
	t.Helper()
	r := prepare(t, server, change...)
	r.run()
	select {
	case <-r.Joined():
	case <-time.After(patient):
		t.Fatal("the replica does not join")
	}
	return r
}

// joined makes a replica that has joined, and does nothing by itself.
func joined(t testing.TB, server *valkey.Server) *replica {
	t.Helper()
	r := prepare(t, server)
	await(t, "the replica joins", func() bool { return r.join(t.Context()) })
	return r
}

// prepare makes a replica that does not run.
func prepare(t testing.TB, server *valkey.Server, change ...func(*Options)) *replica {
	t.Helper()
	id := NewReplica()
	e, err := engine.Open(engine.Options{URL: server.URL, Name: "test", Secrets: [][]byte{secret}, Replica: id})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	peers, err := hop.NewIdentity([][]byte{secret}, "test")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Engine: e, Peers: peers, Replica: id, Lease: engine.Lease{Address: l.Addr().String()}, Log: zap.NewNop()}
	for _, f := range change {
		f(&o)
	}
	r := &replica{t: t, Cluster: New(o), engine: e, budgets: budget.New(budget.Limits{}, budget.Limits{})}
	route := r.Route(r.front())
	handle := func(w http.ResponseWriter, req *http.Request) {
		who := r.caller(req.Header.Get("X-Who"))
		defer who.Client.Account.Close()
		switch {
		case route(w, req, who):
		case r.serve != nil:
			r.serve(w, req)
		default:
			io.Copy(io.Discard, req.Body)
			io.WriteString(w, id)
		}
	}
	s := hop.NewServer(peers, id, r.Handler(func(w http.ResponseWriter, req *http.Request, _ *hop.Head) { handle(w, req) }))
	s.ErrorLog = log.New(io.Discard, "", 0)
	go s.ServeTLS(l, "", "")
	r.edge = httptest.NewServer(http.HandlerFunc(handle))
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	r.stop = sync.OnceFunc(func() {
		cancel()
		s.Close()
		running.Wait()
		r.edge.CloseClientConnections()
		r.edge.Close()
	})
	r.run = func() { running.Go(func() { r.Run(ctx) }) }
	t.Cleanup(r.stop)
	return r
}

func (r *replica) front() Front {
	return Front{Identify: func(req *http.Request) hop.Head {
		return hop.Head{Principal: budget.Principal{Subject: req.Header.Get("X-Who")}}
	}}
}

// caller returns a client with an open account.
func (r *replica) caller(name string) *presence.Caller {
	who := &presence.Caller{}
	who.Client.Principal.Subject = name
	who.Client.Account = r.budgets.Open(who.Client.Principal)
	return who
}

// post sends a request of the modern era, and returns the status and the body of the response.
func (r *replica) post(who, body string) (status int, text string) {
	r.t.Helper()
	req, err := http.NewRequest(http.MethodPost, r.edge.URL+"/mcp", bytes.NewReader([]byte(body)))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("X-Who", who)
	req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	return r.send(req)
}

func (r *replica) send(req *http.Request) (status int, text string) {
	r.t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Error(err)
	}
	return resp.StatusCode, string(all)
}

// hold gives a caller's unit a session: without one it is given up after a while.
func (r *replica) hold(who string) {
	r.t.Helper()
	r.begin("mcp caller\n", r.caller(who), []byte("record"))
}

// A kept is a presence.Kept that notes how it ends.
type kept struct {
	mu    sync.Mutex
	saves int
	ended []error
	save  func() // nil: nothing
}

// Save implements presence.Kept.
func (k *kept) Save() {
	k.mu.Lock()
	k.saves++
	save := k.save
	k.mu.Unlock()
	if save != nil {
		save()
	}
}

// End implements presence.Kept.
func (k *kept) End(why error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = append(k.ended, why)
}

// Move implements presence.Kept.
func (k *kept) Move() bool { k.End(presence.ErrMoved); return true }

func (k *kept) saved() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.saves
}

// await waits until something is so.
func await(t testing.TB, what string, so func() bool) {
	t.Helper()
	for begun := time.Now(); !so(); time.Sleep(2 * time.Millisecond) {
		if time.Since(begun) > patient {
			t.Fatalf("not yet: %s", what)
		}
	}
}
