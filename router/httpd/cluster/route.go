package cluster

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpheader"
	"toolman/router/apps"
	"toolman/router/budget"
	"toolman/router/httpd/cluster/failure"
	"toolman/router/httpd/cluster/hop"
	"toolman/router/httpd/cluster/names"
	"toolman/router/httpd/presence"
	"toolman/router/input"
)

type headKey struct{}

// arrivedHead returns the Head of a request that another replica has forwarded.
func arrivedHead(ctx context.Context) (hop.Head, bool) {
	h, ok := ctx.Value(headKey{}).(hop.Head)
	return h, ok
}

// Route returns the presence.Options.Route of a front.
func (c *Cluster) Route(f Front) presence.Route {
	return func(w http.ResponseWriter, r *http.Request, who *presence.Caller) bool {
		if !c.awake(r.Context()) {
			f.as(failure.Failure{Status: http.StatusServiceUnavailable, Text: presence.ErrUnavailable.Error()}).Write(w, r, nil)
			return true
		}
		if h, ok := arrivedHead(r.Context()); ok {
			return c.arrived(w, r, &h)
		}
		if id := r.Header.Get(httpheader.Session); id != "" && !f.Bridge && !isModern(r) && c.owns(id) {
			return false // as in most cases; the front compares the caller
		}
		q := c.requestOf(f, c.keys.Load(), w, r, who)
		defer q.close()
		switch {
		case q.unread != nil:
			q.refuse(q.unread)
			return true
		case q.issuer != "":
			return q.sendTo(c.member(q.issuer))
		case q.begins && c.draining.Load():
			return q.sendTo(c.successor())
		case q.unit == "" || c.owns(q.unit):
			return q.here()
		}
		return q.send()
	}
}

// isModern reports whether a request is of the modern era, as its header says.
func isModern(r *http.Request) bool {
	return mcpwire.EraOf(r.Header.Get(httpheader.Version)) == mcpwire.Modern
}

// awake waits until this replica has joined the cluster, and it is sure that it still has its
// units. It reports false if that takes too long.
func (c *Cluster) awake(ctx context.Context) bool {
	select {
	case <-c.joined:
	default:
		if !c.joins(ctx) {
			return false
		}
	}
	for began := time.Now(); c.suspect() || c.overdue(); {
		if time.Since(began) > patience || !wait(ctx, 10*time.Millisecond) {
			return false
		}
	}
	return true
}

// joins waits until this replica has joined the cluster. Clients may come as soon as it listens,
// and many do not repeat what gets 503.
func (c *Cluster) joins(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-c.joined:
		return true
	case <-ctx.Done():
		return false
	}
}

// wait waits for a while. It reports false if ctx ended before.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// A request is one that a client has sent to this replica.
type request struct {
	*Cluster
	f      Front
	w      http.ResponseWriter
	r      *http.Request
	who    *presence.Caller
	unit   string // "": every replica can serve it
	begins bool   // it begins a legacy session
	legacy bool   // unit is that of a legacy session
	birth  string // where that began
	issuer string // the other replica that has issued the state in the request

	reading *budget.Reader // of the body; nil before it is read
	body    []byte
	unread  error // why the body could not be read
}

// requestOf finds out which unit a request belongs to. Only its header counts; if the message does
// not agree with it, the front refuses the request, wherever that is.
func (c *Cluster) requestOf(f Front, keys *names.Keys, w http.ResponseWriter, r *http.Request, who *presence.Caller) *request {
	q := &request{Cluster: c, f: f, w: w, r: r, who: who}
	id := r.Header.Get(httpheader.Session)
	switch {
	case f.Bridge:
		if !c.free(true, who) {
			q.unit = keys.UnitOf("", who)
		}
	case isModern(r):
		if !c.free(false, who) || !q.isFree() {
			q.unit = keys.UnitOf("", who)
		}
	case id != "":
		ok := false
		if q.birth, ok = keys.Birthplace(id, who); ok {
			q.unit, q.legacy = keys.UnitOf(id, who), true
		}
	case who.Client.Principal.ClientID != "":
		q.unit = keys.UnitOf("", who)
	default:
		q.begins = true
	}
	return q
}

// free reports whether every replica can serve a caller: a program, or else a client of the modern
// era.
func (c *Cluster) free(program bool, who *presence.Caller) bool {
	programs, clients := c.o.Free()
	if program {
		return programs && who.Client.Principal.ClientID == ""
	}
	return clients && who.Client.Static != "" && who.Client.Principal.ClientID == ""
}

// isFree reports whether every replica can serve a request of a caller that is free, and finds out
// whether another has issued the state in it. Pages of a client (MCP Apps) are remembered.
func (q *request) isFree() bool {
	if q.read() != nil {
		return false // the owner refuses it, or the front
	}
	if bytes.Contains(q.body, []byte(apps.Extension)) {
		return false
	}
	var m jsonrpc.Message
	if !bytes.Contains(q.body, []byte("requestState")) || jsonrpc.Scan(q.body, &m) != nil {
		return true
	}
	if issuer := input.StateReplica(&m); q.member(issuer) != nil {
		q.issuer = issuer
	}
	return true
}

// read reads the body of the request, once.
func (q *request) read() error {
	if q.reading == nil {
		q.reading = q.who.Client.Account.Reader(q.r.Body)
		q.body, q.unread = io.ReadAll(q.reading)
	}
	return q.unread
}

// close gives back the bytes of the body. If the request is served here, the front counts them.
func (q *request) close() {
	if q.reading != nil {
		q.reading.Close()
	}
}

// here lets this replica serve the request.
func (q *request) here() bool {
	if q.reading != nil {
		q.r.Body = io.NopCloser(bytes.NewReader(q.body))
	}
	return false
}

// send forwards the request to the owner of its unit, until one has served it. It reports false if
// this replica has become the owner.
func (q *request) send() (served bool) {
	dead, pause, ctx := "", time.Millisecond, q.r.Context()
	var broke string // the replica that has broken off the request
	var brokeAt time.Time
	for began := time.Now(); ; {
		owner, err := q.resolve(dead)
		if err == nil && owner == q.o.Replica {
			return q.here()
		}
		if err == nil {
			err = q.read()
		}
		if err != nil {
			q.refuse(err)
			return true
		}
		m := q.member(owner)
		if m == nil { // it has died, or joined, just now
			if time.Since(began) > patience {
				q.refuse(presence.ErrUnavailable)
				return true
			}
			q.unlearn(q.unit)
			q.refresh()
			if !wait(ctx, pause) {
				return q.gone(nil)
			}
			pause = min(2*pause, 100*time.Millisecond)
			continue
		}
		res := q.forward(m)
		switch {
		case res.Misdirected:
			q.unlearn(q.unit)
			if q.birth == owner {
				q.birth = ""
			}
			if res.Owner != "" && res.Owner != owner {
				q.learn(q.unit, res.Owner)
			} else if !wait(ctx, 10*time.Millisecond) {
				return q.gone(nil)
			}
		case res.Err == nil:
			return true
		case ctx.Err() != nil || res.Unwritten || q.staysOpen() && q.streams.Err() != nil:
			return q.gone(&res)
		case res.Refused:
			q.bury(owner)
			dead = owner
		case !res.Sent: // nobody takes over the unit as long as its owner's lease lasts
			if !wait(ctx, pause) {
				return q.gone(nil)
			}
			pause = min(2*pause, 100*time.Millisecond)
		case !res.Began && (broke == "" || broke == owner && time.Since(brokeAt) < dying) && q.f.repeats(q.r, q.body):
			if broke == "" {
				broke, brokeAt = owner, time.Now()
			}
			if !wait(ctx, pause) {
				return q.gone(nil)
			}
			pause = min(2*pause, 100*time.Millisecond)
		default:
			q.broken(owner, &res)
			return true
		}
		if time.Since(began) > patience {
			q.refuse(errUnreachable)
			return true
		}
	}
}

// errUnreachable says that an owner cannot be reached, though its lease lasts.
var errUnreachable = errors.New("the replica that has the session cannot be reached now; nothing was done, try again later")

// resolve returns the owner of the request's unit.
func (q *request) resolve(dead string) (owner string, err error) {
	if owner := q.known(q.unit, q.birth); owner != "" && owner != dead {
		return owner, nil
	}
	if !q.draining.Load() {
		return q.claim(q.r.Context(), q.unit, dead, q.legacy)
	}
	ctx, cancel := context.WithTimeout(q.r.Context(), engineTime)
	defer cancel()
	if owner, err = q.o.Engine.Owner(ctx, q.unit); err == nil && q.member(owner) != nil {
		return owner, nil
	}
	if m := q.successor(); m != nil {
		return m.ID, nil
	}
	return "", errNoTaker
}

// forward forwards the request to a replica.
func (q *request) forward(m *member) hop.Result {
	head := q.f.Identify(q.r)
	head.From, head.To, head.Unit, head.Hops = q.o.Replica, m.ID, q.unit, 1
	began, ctx := time.Now(), m.ctx
	if q.staysOpen() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(m.ctx)
		defer cancel()
		defer context.AfterFunc(q.streams, cancel)()
	} else {
		q.open.Add(1)
		defer q.open.Add(-1)
	}
	if q.f.Forwarded != nil {
		q.f.Forwarded(q.r, m.ID)
	}
	res := q.client.Forward(ctx, q.w, q.r, q.body, m.Address, head)
	if res.Err == nil && !res.Misdirected {
		q.counts.forwarded(q.legacy, time.Since(began))
	}
	return res
}

// staysOpen reports whether the request is for a stream.
func (q *request) staysOpen() bool {
	return !q.f.Bridge && isStream(q.r)
}

// isStream reports whether a request of the endpoint is for a stream.
func isStream(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Header.Get(httpheader.Method) == string(mcpwire.Listen)
}

// sendTo forwards the request to a replica, whoever owns its unit. It reports false if this replica
// has to serve it, because the other is nil or gone.
func (q *request) sendTo(m *member) (served bool) {
	if m == nil {
		return q.here()
	}
	if err := q.read(); err != nil {
		q.refuse(err)
		return true
	}
	q.unit = ""
	switch res := q.forward(m); {
	case res.Err == nil && !res.Misdirected:
	case q.r.Context().Err() != nil || res.Unwritten:
		return q.gone(&res)
	case !res.Sent || res.Misdirected:
		return q.here()
	default:
		q.broken(m.ID, &res)
	}
	return true
}

// statusClientGone is the status in the access log of requests whose client has disconnected.
const statusClientGone = 499

var errEnding = errors.New("this replica of toolman is ending; open the stream again")

// gone ends a request whose client has disconnected, whose credential has expired, or for whose
// stream there is no more time. res is nil if it was not forwarded.
func (q *request) gone(res *hop.Result) (served bool) {
	ctx := q.r.Context()
	switch {
	case res != nil && res.Began:
	case ctx.Err() == context.DeadlineExceeded:
		q.f.as(failure.Failure{Status: http.StatusUnauthorized, Text: context.Cause(ctx).Error()}).Write(q.w, q.r, q.body)
	case ctx.Err() != nil:
		q.w.WriteHeader(statusClientGone) // net/http would log a success
	default:
		q.refuse(errEnding)
	}
	return true
}

// broken ends the response to a request whose owner is gone.
func (q *request) broken(owner string, res *hop.Result) {
	q.counts.broken.Add(1)
	q.o.Log.Warn("a forwarded request was broken off", zap.String("owner", owner), zap.NamedError("err", res.Err))
	why := q.f.as(failure.Failure{Ran: q.r.Method == http.MethodPost, Status: http.StatusServiceUnavailable, Text: "the replica of toolman that had this request is gone; it may have been carried out: check before you repeat it"})
	switch {
	case !res.Began:
		why.Write(q.w, q.r, q.body)
	case res.Events:
		if event := why.Event(q.r, q.body); event != nil {
			q.w.Write(event) // fails only if the client has disconnected
			http.NewResponseController(q.w).Flush()
		}
	default:
		panic(http.ErrAbortHandler) // the client sees that the response is not whole
	}
}

var errIncomplete = errors.New("the request body is incomplete")

// refuse answers a request that was not carried out.
func (q *request) refuse(err error) {
	status := http.StatusServiceUnavailable
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		status = http.StatusRequestEntityTooLarge
	} else if _, full := errors.AsType[*budget.LimitError](err); full {
		status = http.StatusTooManyRequests
	} else if err == q.unread {
		status, err = http.StatusBadRequest, errIncomplete
	}
	q.f.as(failure.Failure{Status: status, Text: err.Error()}).Write(q.w, q.r, q.body)
}

// arrived decides about a request that another replica has forwarded: it is served here if this
// replica owns its unit, or can become the owner.
func (c *Cluster) arrived(w http.ResponseWriter, r *http.Request, h *hop.Head) (served bool) {
	if c.finished.Load() {
		hop.Misdirect(w, "")
		return true
	}
	if h.Unit == "" || c.owns(h.Unit) {
		return false
	}
	owner := ""
	if !c.draining.Load() && c.engineUp.Load() {
		owner, _ = c.claim(r.Context(), h.Unit, "", true)
	}
	if owner == c.o.Replica {
		return false
	}
	hop.Misdirect(w, owner)
	return true
}

// Handler serves what other replicas send: requests of clients with serve, which gets the Head, and
// the requests of the replicas themselves.
func (c *Cluster) Handler(serve func(w http.ResponseWriter, r *http.Request, h *hop.Head)) func(http.ResponseWriter, *http.Request, hop.Head) {
	return func(w http.ResponseWriter, r *http.Request, h hop.Head) {
		if c.draining.Load() {
			w.Header().Set("Connection", "close") // see Finish
		}
		switch r.URL.Path {
		case pathAlive:
			w.WriteHeader(http.StatusNoContent)
		case pathEnding:
			c.ends(h.From)
			w.WriteHeader(http.StatusNoContent)
		case pathOwns:
			status := http.StatusNotFound
			if c.awake(r.Context()) && c.owns(r.URL.Query().Get("unit")) {
				status = http.StatusNoContent
			}
			w.WriteHeader(status)
		default:
			if !isStream(r) {
				c.serving.Add(1)
				defer c.serving.Add(-1)
			}
			serve(w, r.WithContext(context.WithValue(r.Context(), headKey{}, h)), &h)
		}
	}
}
