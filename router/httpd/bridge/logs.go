package bridge

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"toolman/router"
)

const (
	defaultLogs = 100
	maxLogs     = 1000
)

// Logs are what a caller may read of calls.
type Logs struct {
	All   bool      // calls of all principals, and not only of its own
	Files []CallLog // which say nothing of agents, and are there for who may read all
}

// wanted is what a caller wants of the logs.
type wanted struct {
	server string
	since  time.Time
	limit  int
}

// listLogs serves GET /logs.
func (b *Bridge) listLogs(w http.ResponseWriter, r *http.Request) {
	correlation := correlationOf(r, "")
	want, f := wantedOf(r)
	if f != nil {
		writeFailure(w, f, correlation)
		return
	}
	who, done, f := b.admit(r)
	if f != nil {
		writeFailure(w, f, correlation)
		return
	}
	defer done()
	all := b.entries(want, &who.Client, b.o.Logs(r, who.Client.Agent))
	slices.SortStableFunc(all, func(x, y entry) int { return x.Timestamp.Compare(y.Timestamp) })
	kept := who.Client.Account.Reader(nil)
	defer kept.Close()
	writeJSON(w, http.StatusOK, all[max(0, len(all)-want.limit):], kept)
}

func wantedOf(r *http.Request) (want wanted, f *Failure) {
	q := r.URL.Query()
	want.server, want.limit = q.Get("server"), defaultLogs
	if q.Has("since") {
		at, err := time.Parse(time.RFC3339, q.Get("since"))
		if err != nil {
			return want, fail(BadRequest, `since has to be a time as in RFC 3339, such as 2026-01-31T12:00:00Z`)
		}
		want.since = at
	}
	if q.Has("limit") {
		n, err := strconv.Atoi(q.Get("limit"))
		if err != nil || n < 1 || n > maxLogs {
			return want, fail(BadRequest, fmt.Sprintf("limit has to be a number from 1 to %d", maxLogs))
		}
		want.limit = n
	}
	return want, nil
}

// entries are what a client wants and may read.
func (b *Bridge) entries(want wanted, who *router.Client, may Logs) []entry {
	all := []entry{}
	add := func(e *entry) {
		if (want.server == "" || e.Server == want.server) && !e.Timestamp.Before(want.since) {
			all = append(all, *e)
		}
	}
	b.ring.each(func(e *entry) {
		if may.All || e.who == who.Principal {
			add(e)
		}
	})
	if !may.All {
		return all
	}
	for _, file := range may.Files {
		if want.server == "" || want.server == file.Server {
			for _, e := range file.tail(b.o.Scrub) {
				add(&e)
			}
		}
	}
	return all
}
