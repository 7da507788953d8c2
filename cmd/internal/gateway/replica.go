package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/cluster"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/store"
	"toolman/cmd/internal/store/shared"
	"toolman/router"
	"toolman/router/audit"
	"toolman/router/httpd"
	"toolman/router/httpd/bridge"
	clusters "toolman/router/httpd/cluster"
	"toolman/router/httpd/cluster/engine"
	"toolman/router/httpd/cluster/hop"
	"toolman/router/httpd/guard"
	"toolman/router/httpd/ops"
	"toolman/router/httpd/presence"
	"toolman/router/policy"
	"toolman/router/upstream"
)

// lastPeers is how long other replicas may take to read the last answers.
const lastPeers = 250 * time.Millisecond

// A replica is this program's part of a cluster.
type replica struct {
	*clusters.Cluster
	id       string
	engine   *engine.Engine
	peers    *hop.Identity
	toolsets *shared.Shelf
	log      *zap.Logger
	listener net.Listener // for other replicas
	stop     context.CancelFunc
	stopped  chan struct{} // closed when Cluster.Run has returned
}

// newReplica makes the replica of a configuration, and opens its port for the others.
func (s *server) newReplica(c *config.Config, files []string) (*replica, error) {
	o, hint := c.Cluster, "see [cluster] in "+c.Path
	r := &replica{id: clusters.NewReplica(), stopped: make(chan struct{})}
	s.Log = s.Log.With(zap.String("replica", r.id))
	r.log = s.Log.Named("cluster")
	s.RouterOptions.Audit = audit.OfReplica(s.RouterOptions.Audit, r.id)
	var err error
	if r.peers, err = hop.NewIdentity(o.Secrets, o.Name); err != nil {
		return nil, cli.Usage(err, hint)
	}
	if r.engine, err = engine.Open(engine.Options{URL: o.Engine, CA: o.EngineCA, Plaintext: o.EnginePlaintext, Name: o.Name, Secrets: o.Secrets, Replica: r.id}); err != nil {
		return nil, cli.Usage(err, hint)
	}
	if r.listener, err = net.Listen("tcp", o.Listen); err != nil {
		r.engine.Close()
		return nil, cli.Usage(fmt.Errorf("the port for other replicas cannot be opened: %w", err), hint)
	}
	r.toolsets = shared.New(r.engine, store.ToolsetsBeside(c.Beside), func(err error) { s.Log.Warn("saved toolsets", zap.NamedError("err", err)) })
	s.RouterOptions.Shelf = r.toolsets
	r.Cluster = clusters.New(clusters.Options{Engine: r.engine, Peers: r.peers, Replica: r.id, Idle: c.HTTP.SessionIdle, Free: s.freeCallers, Log: r.log,
		Lease: engine.Lease{Address: advertised(o, r.listener), Version: setup.Version(), Protocol: hop.Version, Config: hashOf(files)}})
	return r, nil
}

// advertised returns the address at which other replicas find a listener.
func advertised(o *cluster.Settings, l net.Listener) string {
	host, port, err := net.SplitHostPort(o.Advertise)
	if err == nil && port == "0" {
		port = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	}
	return net.JoinHostPort(host, port)
}

// digestKey returns the key of hashes of what clients say about their sessions. All replicas of a
// cluster have the same.
func (s *server) digestKey() [32]byte {
	if s.replica != nil {
		return s.replica.DigestKey()
	}
	return s.key
}

// hashOf returns a hash of the configuration's files.
func hashOf(files []string) string {
	sum := sha256.New()
	for _, path := range files {
		text, _ := os.ReadFile(path) // a file that is gone is another configuration, too
		fmt.Fprintf(sum, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// join lets a front be part of the cluster.
func (r *replica) join(o *presence.Options, isBridge bool) {
	o.Route = r.Route(clusters.Front{Bridge: isBridge, Identify: headOf, Forwarded: noteForwarded})
	o.Keeper = r
}

// headOf returns what an owner has to know of the client that sends a request.
func headOf(r *http.Request) hop.Head {
	id, _ := guard.IdentityOf(r.Context())
	return hop.Head{Principal: id.Principal, Addr: id.Addr, Expires: id.Expires, RequestID: ops.RequestID(r.Context())}
}

// start serves other replicas, and joins the cluster in the background. The replica has to be
// ended.
func (r *replica) start(s *server) {
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	peers := hop.NewServer(r.peers, r.id, r.Handler(s.serveForwarded()))
	peers.Handler = httpd.EndOnPanic(peers.Handler)
	var conns atomic.Int64
	peers.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			conns.Add(1)
		case http.StateClosed, http.StateHijacked:
			conns.Add(-1)
		}
	}
	peers.ErrorLog = zap.NewStdLog(s.Log.Named("cluster"))
	go func() {
		defer close(r.stopped)
		go peers.ServeTLS(r.listener, "", "")
		go r.toolsets.Run(ctx)
		r.Run(ctx)
		r.listener.Close()
		// Shutdown would close connections without an answer to what it has read.
		for began := time.Now(); conns.Load() > 0 && time.Since(began) < lastPeers; {
			time.Sleep(time.Millisecond)
		}
		peers.Close()
	}()
}

// end gives up what the replica still has, after its sessions have ended.
func (r *replica) end() {
	r.stop()
	<-r.stopped
	r.Cluster.Close()
	r.engine.Close()
}

// serveForwarded serves the requests that other replicas forward. The client was authenticated
// there; here it has to have the same rights.
func (s *server) serveForwarded() func(w http.ResponseWriter, r *http.Request, h *hop.Head) {
	mux := http.NewServeMux()
	mux.Handle("/mcp", identify(s.endpoint))
	mux.Handle("/mcp/{"+guard.PathName+"}", identify(s.endpoint))
	for _, path := range s.bridge.Paths() {
		mux.Handle(path, identify(s.bridge))
	}
	return func(w http.ResponseWriter, r *http.Request, h *hop.Head) {
		a := s.access.Load()
		id, ok := a.guard.Again(h.Principal)
		if !ok {
			const why = "the replica that has the session does not accept the client; its configuration may be another one for a moment"
			status, body := http.StatusServiceUnavailable, guard.RPCError(r, http.StatusServiceUnavailable, why)
			if slices.Contains(s.bridge.Paths(), r.URL.Path) {
				status, body = bridge.ErrorResponse(r, bridge.Unavailable, why)
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(status)
			w.Write(body)
			return
		}
		id.Addr, id.Expires = h.Addr, h.Expires
		ctx := context.WithValue(r.Context(), accessKey{}, a)
		if h.Local {
			ctx = context.WithValue(ctx, localKey{}, true)
		}
		guard.ServeAs(id, mux, w, r.WithContext(ctx))
	}
}

// noteFree notes which callers every replica can serve. A client may have to be asked about a
// dangerous tool, and its answer belongs to the replica that has asked.
func (s *server) noteFree(o *router.Options) {
	programs := !slices.ContainsFunc(o.Servers, func(u upstream.Server) bool { return !u.Stateless })
	s.programsFree.Store(programs)
	s.clientsFree.Store(programs && (o.Dangers == nil || o.Dangers.Confirm != policy.Elicit))
}

// freeCallers is clusters.Options.Free.
func (s *server) freeCallers() (programs, clients bool) {
	return s.programsFree.Load(), s.clientsFree.Load()
}

// drainWith makes an ending give the sessions of this replica to others.
func (r *replica) drainWith(e *ops.Ending) {
	ctx, cancel := context.WithCancel(context.Background())
	calls, endStreams := e.Calls, e.EndStreams
	e.Begin = func() { go r.Drain(ctx) }
	e.Calls = func() int { return calls() + r.Forwarding() }
	e.EndStreams = func() {
		r.Finish()
		cancel()
		r.EndStreams()
		endStreams()
	}
}

// A clusterHealth is the part of GET /health about the cluster.
type clusterHealth struct {
	Replica     string `json:"replica"`
	Engine      string `json:"engine"` // ready or gone
	Replicas    int    `json:"replicas"`
	Owned       int    `json:"owned"`
	Adopted     uint64 `json:"adopted"`
	Unprotected int    `json:"unprotected"`
	Skew        bool   `json:"skew"`
}

// health is ops.Health.Cluster.
func (r *replica) health() (problem string, state any) {
	st := r.Status()
	h := clusterHealth{st.Replica, "ready", st.Replicas, st.Owned, st.Adopted, st.Unprotected, st.Skew}
	if !st.Engine {
		h.Engine = "gone"
	}
	if !st.Joined {
		problem = "the replica has not joined its cluster: the engine does not answer"
	}
	return problem, h
}
