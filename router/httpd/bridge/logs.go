package bridge

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"toolman/router/audit"
	"toolman/router/client"
	"toolman/router/httpd/bridge/calllog"
)

const (
	defaultLogs = 100
	maxLogs     = 1000
)

// headerMissing is the header of a response of GET /logs with the replicas that did not answer.
const headerMissing = "X-Missing-Replicas"

// Logs are the calls that a caller may read.
type Logs struct {
	All   bool           // calls of all principals, not only its own
	Files []calllog.File // read only with All, because they do not name agents
}

// listLogs serves GET /logs.
func (x *exchange) listLogs() error {
	q, err := queryOf(x.r)
	if err != nil {
		return err
	}
	if err := x.admitTo(nil); err != nil {
		return err
	}
	who := &x.caller.Client
	if may := x.o.Logs(x.r, who.Agent); may.All {
		q.Files = may.Files
	} else {
		q.Of = &who.Principal
	}
	found := x.o.Log.Find(q)
	if x.o.OtherLogs != nil {
		others, missing := x.o.OtherLogs(x.r)
		found = calllog.Merge(q.Limit, append(others, found)...)
		if len(missing) > 0 {
			x.w.Header().Set(headerMissing, strings.Join(missing, ", "))
		}
	}
	writeJSON(x.w, http.StatusOK, found, x.kept)
	return nil
}

// queryOf reads the query of GET /logs.
func queryOf(r *http.Request) (want calllog.Query, err error) {
	q := r.URL.Query()
	want.Server, want.Limit = q.Get("server"), defaultLogs
	if q.Has("since") {
		at, err := time.Parse(time.RFC3339, q.Get("since"))
		if err != nil {
			return want, fail(BadRequest, `since must be a time in the format of RFC 3339, such as 2026-01-31T12:00:00Z`)
		}
		want.Since = at
	}
	if q.Has("limit") {
		n, err := strconv.Atoi(q.Get("limit"))
		if err != nil || n < 1 || n > maxLogs {
			return want, fail(BadRequest, fmt.Sprintf("limit must be a number from 1 to %d", maxLogs))
		}
		want.Limit = n
	}
	return want, nil
}

// log adds the outcome of a call to the log.
func (x *exchange) log(s *session, q *toolCall, result []byte, err error) {
	c := &calllog.Call{Began: q.began, Server: q.server, Tool: q.tool, Input: clone(q.arguments, calllog.MaxContent), InputCut: len(q.arguments) > calllog.MaxContent,
		Correlation: q.correlation, Principal: s.Caller.Client.Principal, Agent: s.Caller.Client.Agent, Client: calllog.Product(x.r.UserAgent())}
	if err == nil {
		c.Sent, c.Result, c.Cut = true, clone(result, calllog.MaxContent), len(result) > calllog.MaxContent
	} else {
		f := failureFor(err)
		text, encoding := encode(f)
		if f.Code == Denied || f.Code == Held {
			c.Asked = q.asked
		}
		c.Sent = f.Code == UpstreamError || f.Code == UpstreamGone || f.Code == Timeout || f.Code == Unavailable
		c.Error, c.Cut = clone(text, calllog.MaxContent), len(text) > calllog.MaxContent || encoding != nil
	}
	x.o.Log.Add(c)
}

// clone returns a copy of a text, or nil if it is too long.
func clone(text []byte, longest int) []byte {
	if len(text) > longest {
		return nil
	}
	return bytes.Clone(text)
}

// CodeOf returns the code of a request that toolman has refused or failed, for the log of calls.
func CodeOf(line *audit.Line) string {
	code := failureOf(&client.Reason{Verdict: line.Verdict, Outcome: line.Outcome}).Code
	if code == Internal && line.Outcome == audit.Refused {
		code = Denied // since it began
	}
	return string(code)
}
