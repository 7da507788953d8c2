package bridge

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"toolman/mcpwire/sanitize"
	"toolman/router/client"
	"toolman/router/httpd/bridge/calllog"
)

const (
	defaultLogs = 100
	maxLogs     = 1000
)

// Logs are the calls that a caller may read.
type Logs struct {
	All   bool           // calls of all principals, not only its own
	Files []calllog.File // read only with All, because they do not name agents
}

// wanted is the query of GET /logs.
type wanted struct {
	server string
	since  time.Time
	limit  int
}

// listLogs serves GET /logs.
func (x *exchange) listLogs() error {
	want, err := wantedOf(x.r)
	if err != nil {
		return err
	}
	if err := x.admit(); err != nil {
		return err
	}
	client := &x.caller.Client
	all := x.entries(want, client, x.o.Logs(x.r, client.Agent))
	slices.SortStableFunc(all, func(x, y calllog.Entry) int { return x.Timestamp.Compare(y.Timestamp) })
	writeJSON(x.w, http.StatusOK, all[max(0, len(all)-want.limit):], x.kept)
	return nil
}

func wantedOf(r *http.Request) (want wanted, err error) {
	q := r.URL.Query()
	want.server, want.limit = q.Get("server"), defaultLogs
	if q.Has("since") {
		at, err := time.Parse(time.RFC3339, q.Get("since"))
		if err != nil {
			return want, fail(BadRequest, `since must be a time in the format of RFC 3339, such as 2026-01-31T12:00:00Z`)
		}
		want.since = at
	}
	if q.Has("limit") {
		n, err := strconv.Atoi(q.Get("limit"))
		if err != nil || n < 1 || n > maxLogs {
			return want, fail(BadRequest, fmt.Sprintf("limit must be a number from 1 to %d", maxLogs))
		}
		want.limit = n
	}
	return want, nil
}

// entries returns the entries that a client wants and may read.
func (b *Bridge) entries(want wanted, who *client.Info, may Logs) []calllog.Entry {
	wants := func(e *calllog.Entry) bool {
		return (want.server == "" || e.Server == want.server) && !e.Timestamp.Before(want.since)
	}
	all := b.calllog.Find(func(e *calllog.Entry) bool { return (may.All || e.Who == who.Principal) && wants(e) })
	if !may.All {
		return all
	}
	for _, file := range may.Files {
		if want.server == "" || want.server == file.Server {
			all = append(all, slices.DeleteFunc(file.Read(b.o.Scrub), func(e calllog.Entry) bool { return !wants(&e) })...)
		}
	}
	return all
}

// log adds the outcome of a call to the log.
func (b *Bridge) log(s *session, q *toolCall, result []byte, err error) {
	e := calllog.Entry{Timestamp: time.Now().UTC(), Server: sanitize.Cut(q.server, maxShown), Tool: sanitize.Cut(q.tool, maxShown),
		Correlation: q.correlation, Who: s.Caller.Client.Principal}
	e.Input = e.Keep(q.arguments, b.o.Scrub)
	if err == nil {
		e.Result = e.Keep(result, b.o.Scrub)
	} else if text, failure := encode(failureFor(err)); failure == nil {
		e.Error = e.Keep(text, b.o.Scrub)
	}
	b.calllog.Add(e)
}
