package router

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/router/cache"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/session"
	"toolman/router/upstream"
	"toolman/router/view"
)

// A rig is a router without processes: what its client and its servers write is
// handed to the real handlers, and what they are sent is kept.
type rig struct {
	t       testing.TB
	r       *Router
	s       *session.Session
	client  *link
	servers []*link
}

// An offer is one server of a rig. Items are JSON, or names of the simplest item.
type offer struct {
	namespace                            string
	tools, resources, templates, prompts []string
	timeout                              time.Duration
	most                                 int // max_concurrent_calls
	cache                                []cache.Rule
	starting                             bool // it becomes ready later, by ready, and the first list waits for it
	late                                 bool // it becomes ready later, and nobody waits for it
	modern                               bool // it is a server of the modern era
}

// A setup is a rig to be made. The zero value is a client that can do everything
// and servers whose items are all inactive.
type setup struct {
	Options
	active       []string // globs
	capabilities string   // of the client
	silent       bool     // the client has not said anything yet
	trace        *trace.Writer
	who          client.Info // but for Sole
}

func newRig(t testing.TB, from setup, offers ...offer) *rig {
	t.Helper()
	globs, err := catalog.CompileGlobs(from.active)
	if err != nil {
		t.Fatal(err)
	}
	o := from.Options
	o.Active, o.Trace = globs, from.trace
	if o.URISeparator == "" {
		o.URISeparator = "_"
	}
	for _, one := range offers {
		o.Servers = append(o.Servers, upstream.Server{Namespace: one.namespace, StartTimeout: time.Second, CallTimeout: one.timeout, MaxCalls: one.most, Cache: one.cache})
	}
	g := &rig{t: t, r: New(o, nil, zap.NewNop())}
	g.client = &link{t: t, traced: from.trace != nil}
	from.who.Sole = true
	g.s = g.r.NewSession(g.client, from.who)
	g.client.handler = g.s.Entry()
	g.r.startup.waiting.Store(int32(len(offers)) + 1)
	for i, u := range g.r.all() {
		l := &link{t: t, handler: u, u: u, offers: offers[i], traced: from.trace != nil}
		upstream.Simulate(u).Connect(l)
		g.servers = append(g.servers, l)
		switch {
		case offers[i].late:
			upstream.Simulate(u).Settle()
		case !offers[i].starting:
			l.ready()
		}
	}
	g.r.upstreamSettled()
	if !from.silent {
		g.client.initialize(from.capabilities)
		g.client.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		g.client.hears()
	}
	return g
}

// one is a rig with one server, all of whose items are active.
func one(t testing.TB, o offer) (g *rig, client, server *link) {
	t.Helper()
	g = newRig(t, setup{active: []string{"*"}}, o)
	return g, g.client, g.servers[0]
}

// view is what the session sees now.
func (g *rig) view() *view.View { return g.s.View.Load() }

// quiet fails the test when anybody has been sent anything.
func (g *rig) quiet() {
	g.t.Helper()
	g.client.wants()
	for _, l := range g.servers {
		l.wants()
	}
}

// A link is the far end of one of the router's pipes.
type link struct {
	t       testing.TB
	handler peer.Handler
	batch   peer.Outgoing
	u       *upstream.Upstream // nil: the client
	offers  offer

	mu      sync.Mutex
	queued  []string // sent, but not flushed
	heard   []string
	refuses error // what Queue answers

	traced     bool     // there is a trace to compare …
	said, sent []string // … with everything so far
}

// Queue implements peer.Sender.
func (l *link) Queue(frame []byte, edits []jsonrpc.Edit) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuses != nil {
		return l.refuses
	}
	sent := string(jsonrpc.AppendSplice(nil, frame, edits...))
	if strings.ContainsAny(sent, "\r\n") {
		return jsonrpc.ErrLineBreak // as a Peer does
	}
	l.queued = append(l.queued, sent)
	if l.traced {
		l.sent = append(l.sent, sent)
	}
	return nil
}

// Flush implements peer.Sender.
func (l *link) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, l.queued...)
	l.queued = nil
}

// says hands the router frames as its reader would: their bytes change when the
// handler has returned.
func (l *link) says(frames ...string) {
	for _, frame := range frames {
		if l.traced {
			l.said = append(l.said, frame)
		}
		buf := []byte(frame)
		var m jsonrpc.Message
		if err := jsonrpc.Scan(buf, &m); err != nil {
			l.handler.Bad(&m, err, &l.batch)
		} else {
			l.handler.Message(&m, &l.batch)
		}
		l.batch.Flush()
		for i := range buf {
			buf[i] = '#'
		}
	}
}

// hears takes what the router has sent since the last time.
func (l *link) hears() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	heard := l.heard
	l.heard = nil
	return heard
}

// wants fails the test unless exactly these frames were sent since the last time.
func (l *link) wants(frames ...string) {
	l.t.Helper()
	got := l.hears()
	for i := range max(len(got), len(frames)) {
		switch {
		case i >= len(got):
			l.t.Errorf("not sent: %s", frames[i])
		case i >= len(frames):
			l.t.Errorf("sent, not expected: %s", got[i])
		case got[i] != frames[i]:
			l.t.Errorf("frame %d\ngot  %s\nwant %s", i, got[i], frames[i])
		}
	}
}

// hearsOne takes the one frame that was sent since the last time.
func (l *link) hearsOne() string {
	l.t.Helper()
	got := l.hears()
	if len(got) != 1 {
		l.t.Fatalf("%d frames were sent, want one: %.2000s", len(got), strings.Join(got, "\n"))
	}
	return got[0]
}

// asks says something that has one answer, and returns that.
func (l *link) asks(frame string) string {
	l.t.Helper()
	l.says(frame)
	return l.hearsOne()
}

const everything = `{"sampling":{},"elicitation":{},"roots":{},"tasks":{}}`

func (l *link) initialize(capabilities string) {
	if capabilities == "" {
		capabilities = everything
	}
	l.says(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` +
		capabilities + `,"clientInfo":{"name":"rig","version":"1"}}}`)
}

// ready makes a server ready with what it offers.
func (l *link) ready() {
	version := mcpwire.Latest
	l.u.Source.Modern = l.offers.modern // before entries are made
	if l.offers.modern {
		version = mcpwire.Newest
	}
	l.lists(mcpwire.Tool, l.offers.tools...)
	l.lists(mcpwire.Resource, l.offers.resources...)
	l.lists(mcpwire.Template, l.offers.templates...)
	l.lists(mcpwire.Prompt, l.offers.prompts...)
	upstream.Simulate(l.u).Ready(0, mcpwire.InitializeResult{ProtocolVersion: version, Capabilities: map[string]json.RawMessage{"logging": nil}})
}

// lists gives a server's items of a kind, without showing them to the client.
func (l *link) lists(k mcpwire.Kind, items ...string) {
	l.t.Helper()
	objects := make([]string, len(items))
	key := [mcpwire.Kinds]string{"name", "uri", "uriTemplate", "name"}[k]
	for i, item := range items {
		objects[i] = item
		if item[0] != '{' || !jsonrpc.Valid([]byte(item)) {
			objects[i] = fmt.Sprintf(`{%q:%q}`, key, item)
		}
	}
	page, err := mcpwire.ParsePage(k, []byte(`{"`+k.Member()+`":[`+strings.Join(objects, ",")+`]}`))
	if err != nil || len(page.Odd) > 0 {
		l.t.Fatalf("%v, %v", err, page.Odd)
	}
	upstream.Simulate(l.u).List(k, page.Items)
}

// dies ends a server, as bury does when its process has ended.
func (l *link) dies() {
	upstream.Simulate(l.u).End("it ended with exit status 3")
}

// converses gives a server a conversation of toolman's own. It belongs in a
// synctest bubble.
func (l *link) converses() {
	end := upstream.Simulate(l.u).Converse(func(frame []byte) error {
		defer l.Flush()
		return l.Queue(frame, nil)
	})
	l.t.Cleanup(func() {
		time.Sleep(time.Hour) // what is being read again comes to its end
		synctest.Wait()
		end()
	})
}

// scanned is a frame that was sent, which must be a valid message.
func scanned(t testing.TB, frame string) *jsonrpc.Message {
	t.Helper()
	m := new(jsonrpc.Message)
	if err := jsonrpc.Scan([]byte(frame), m); err != nil {
		t.Fatalf("%v: %s", err, frame)
	}
	return m
}

// idOf is the id of a frame that was sent, as JSON.
func idOf(t testing.TB, frame string) string {
	t.Helper()
	m := scanned(t, frame)
	return string(m.Bytes(m.ID))
}

// methodsOf are the methods of frames, in order; a response has "".
func methodsOf(t testing.TB, frames []string) []string {
	t.Helper()
	methods := make([]string, len(frames))
	for i, frame := range frames {
		m := scanned(t, frame)
		methods[i] = string(m.Text(m.Method))
	}
	return methods
}

// checkList compares two lists of strings.
func checkList(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %q\nwant %q", what, got, want)
	}
}

// namesOf are the names of entries, in order.
func namesOf(entries []*catalog.Entry) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	return names
}

// codeOf is the code of an error answer; 0 for a result.
func codeOf(t testing.TB, frame string) int {
	t.Helper()
	var reply struct{ Error struct{ Code int } }
	if err := json.Unmarshal([]byte(frame), &reply); err != nil {
		t.Fatalf("%v: %s", err, frame)
	}
	return reply.Error.Code
}

// unreadBy is what a client hears whose call a server does not read.
func unreadBy(u *upstream.Upstream) string {
	return "server " + u.Name + " does not read what it is sent, so this call was not passed on; try again later or go on without it"
}

// What tests rely on of package upstream.
const (
	debounceTime       = 50 * time.Millisecond  // changes of a list within this time are read once
	relistenPause      = time.Second            // before a subscription that a server has ended is opened again
	probeTimeout       = 15 * time.Second       // for the answer to server/discover
	lateAnswerTime     = 5 * time.Second        // for which a cancelled call counts
	mostLeased         = 8                      // processes of a server for one session
	mostRounds         = 10                     // of a call
	mostOpenRounds     = 64                     // of a session
	roundTimeout       = 10 * time.Minute       // for what is asked in one
	roundPause         = 250 * time.Millisecond // before one without questions is repeated
	mostSuspended      = 256                    // calls of a session
	mostSuspendedBytes = 32 << 20
	mostQuestions      = 16                    // of a suspended call
	mostPermits        = 256                   // of a session
	stateLifetime      = 10 * time.Minute      // of a requestState
	mostEarly          = 256                   // requests of servers before the client is ready
	mostEarlyBytes     = 4 << 20               // of those
	replyPause         = 50 * time.Millisecond // from the answer to a list to the reply that waited for it
	levelTimeout       = time.Second           // for servers to take a log level
	mostParked         = 4096                  // requests that wait for servers
	mostItems          = 20_000                // of a list
	mostPages          = 1000                  // of a list
)

// soleClient is one for whose own use all servers are, as over stdio.
var soleClient = client.Info{Sole: true}
