package hop

import (
	"net/http"
	"time"
)

// serverIdle is how long a server keeps idle connections. Clients keep them for a shorter time, so
// that it is they who close them.
const (
	serverIdle = 5 * time.Minute
	clientIdle = time.Minute
)

// maxRequestHeader is the size of the longest header of a request: the Head, and what the client
// has sent, of which package guard accepts 32 KB.
const maxRequestHeader = 2 * maxHead

// NewServer returns the server of the replica with this ID: next gets what others forward. Its
// ServeTLS takes no files.
func NewServer(i *Identity, replica string, next func(http.ResponseWriter, *http.Request, Head)) *http.Server {
	s := &http.Server{
		Handler:           handler{replica, next},
		TLSConfig:         i.Server(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       serverIdle,
		MaxHeaderBytes:    maxRequestHeader,
		Protocols:         new(http.Protocols),
	}
	s.Protocols.SetHTTP1(true)
	return s
}

// A handler serves requests that are meant for this replica.
type handler struct {
	replica string
	next    func(http.ResponseWriter, *http.Request, Head)
}

// ServeHTTP implements http.Handler.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.TLS == nil {
		http.Error(w, "requests between replicas need TLS", http.StatusForbidden)
		return
	}
	head, err := ReadHead(r.Header)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if head.To != h.replica {
		w.Header().Set(headerReplica, h.replica)
		http.Error(w, "the request is for replica "+head.To+", this is "+h.replica, http.StatusMisdirectedRequest)
		return
	}
	r.Header.Del(headerHead)
	h.next(w, r, head)
}

// Misdirect answers a request whose unit another replica owns; owner is "" if that is not known.
func Misdirect(w http.ResponseWriter, owner string) {
	w.Header().Set(HeaderOwner, owner)
	http.Error(w, "another replica owns this", http.StatusMisdirectedRequest)
}
