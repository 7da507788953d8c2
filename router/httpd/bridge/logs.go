package bridge

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

const (
	defaultLogs = 100
	maxLogs     = 1000
)

// Logs are what a caller may read of calls.
type Logs struct {
	All   bool      // calls of all agents, and not only of its own
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
	s, f := b.enter(r)
	if f != nil {
		writeFailure(w, f, correlation)
		return
	}
	defer b.leave(s)
	all := b.entries(want, s.agent, b.o.Logs(r, s.agent))
	slices.SortStableFunc(all, func(x, y entry) int { return x.Timestamp.Compare(y.Timestamp) })
	writeJSON(w, http.StatusOK, all[max(0, len(all)-want.limit):])
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

// entries are what an agent wants and may read.
func (b *Bridge) entries(want wanted, agent string, may Logs) []entry {
	all := []entry{}
	add := func(e *entry) {
		if (want.server == "" || e.Server == want.server) && !e.Timestamp.Before(want.since) {
			all = append(all, *e)
		}
	}
	b.ring.each(func(e *entry) {
		if may.All || e.agent == agent {
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
