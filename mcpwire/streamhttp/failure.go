package streamhttp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/sanitize"
)

// A failure is why a message came to nothing.
type failure struct {
	text     string        // for people: where, what, and what to do
	status   int           // 0: there was no response
	unsent   bool          // nothing of the message went out
	passing  bool          // it may well work in a moment
	reopened bool          // a subscription that had been opened has broken off
	wait     time.Duration // the server wants to be left alone so long
	rpc      []byte        // the server's own error object, to be passed on as it is
	code     int64         // of rpc
}

const (
	maxErrorBody = 64 << 10
	maxDetail    = 300 // characters of what a server says that people are shown
)

// refusal is a JSON-RPC error as a failure.
func refusal(m *jsonrpc.Message) *failure {
	f := &failure{rpc: bytes.Clone(m.Bytes(m.Err))}
	var e jsonrpc.Error
	if json.Unmarshal(f.rpc, &e) == nil {
		f.code, f.text = e.Code, sanitize.Cut(e.Message, maxDetail)
	}
	return f
}

// refused reads a response that says no.
func (c *Conn) refused(p *post, req *http.Request, resp *http.Response) *failure {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	f := &failure{status: resp.StatusCode, wait: retryAfter(resp.Header)}
	detail := ""
	var m jsonrpc.Message
	if jsonrpc.Scan(body, &m) == nil && m.Kind == jsonrpc.Response && m.Err.Present() {
		jsonrpc.OneLine(body)
		inner := refusal(&m)
		f.rpc, f.code, detail = inner.rpc, inner.code, inner.text
	} else {
		detail = detailOf(httpheader.MediaType(resp.Header), body)
	}
	f.passing = f.status == http.StatusBadGateway || f.status == http.StatusServiceUnavailable || f.status == http.StatusGatewayTimeout ||
		f.status == http.StatusTooManyRequests
	if f.opaque() {
		f.rpc = nil
	}
	f.text = c.where + ": " + statusText(f, p.inSession())
	if detail != "" {
		f.text += "; the server says: " + detail
	}
	if f.status == http.StatusUnauthorized && c.o.Credential != nil && !p.renewed && c.o.Credential.Refused(req.Header) {
		p.renewed, f.unsent, f.passing = true, true, true
	}
	return f
}

// opaque reports whether what the status says is worth more than a JSON-RPC error beside it.
func (f *failure) opaque() bool {
	switch f.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusProxyAuthRequired:
		return true
	}
	return false
}

// statusText says what a status means and what to do.
func statusText(f *failure, inSession bool) string {
	status := strconv.Itoa(f.status) + " " + http.StatusText(f.status)
	switch {
	case f.status == http.StatusUnauthorized:
		return "the server wants credentials, or does not take those it was given (" + status + "); check the token or the headers that are sent"
	case f.status == http.StatusForbidden:
		return "the server does not let this client in (" + status + "); check what its credentials may do, and whether it takes requests from here"
	case f.status == http.StatusProxyAuthRequired:
		return "the proxy wants credentials (" + status + "); write them into HTTPS_PROXY"
	case f.status == http.StatusNotFound && inSession:
		return "the server does not know the session any more (" + status + ")"
	case f.status == http.StatusNotFound, f.status == http.StatusMethodNotAllowed, f.status == http.StatusGone:
		return "there is no MCP server at this URL (" + status + "); check its path, which for many servers ends in /mcp"
	case f.status == http.StatusRequestEntityTooLarge:
		return "the message is too large for the server (" + status + ")"
	case f.status == http.StatusTooManyRequests && f.wait > 0:
		return "the server has had too many requests (" + status + "); it wants to be left alone for " + f.wait.String()
	case f.status == http.StatusTooManyRequests:
		return "the server has had too many requests (" + status + "); wait before the next"
	case f.status/100 == 3:
		return "the server sends its clients elsewhere (" + status + "); write the URL that it means"
	case f.status >= 500:
		return "the server, or what stands before it, is out of order (" + status + "); what was asked may have been carried out"
	}
	return "the server refuses the request (" + status + ")"
}

// notMCP is a response of which nothing can be made.
func (c *Conn) notMCP(resp *http.Response, kind string) *failure {
	what := "something of the type " + sanitize.Cut(kind, 64)
	switch kind {
	case "text/html":
		what = "a web page"
	case "":
		what = "something without a Content-Type"
	}
	return &failure{status: resp.StatusCode, text: c.where + ": the server answers with " + what +
		", where application/json or " + httpheader.EventStream + " is expected; check whether this is the URL of its MCP endpoint"}
}

// lost is a response that did not come to its end.
func (c *Conn) lost(err error) *failure {
	f := c.broken(err, false)
	f.text += "; whether the request was carried out is not known"
	return f
}

func (c *Conn) tooLong(size int64) *failure {
	return &failure{text: c.where + ": the answer is longer than " + strconv.Itoa(c.o.FrameLimit) + " bytes (at least " +
		strconv.FormatInt(size, 10) + "); raise max_message_bytes if messages of that size are right"}
}

// retryAfter reads the header of this name (RFC 9110, 10.2.3).
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at)).Round(time.Second)
	}
	return 0
}

// detailOf finds words for people in a body that is no JSON-RPC error.
func detailOf(kind string, body []byte) string {
	switch kind {
	case "text/plain":
		return sanitize.Cut(strings.TrimSpace(string(body)), maxDetail)
	case httpheader.JSON, "application/problem+json":
		var e struct {
			Error       json.RawMessage
			Description string `json:"error_description"`
			Message     string
			Detail      string
			Title       string
		}
		if json.Unmarshal(body, &e) != nil {
			return ""
		}
		var code string
		json.Unmarshal(e.Error, &code) // an object stays ""
		for _, text := range []string{e.Description, e.Detail, e.Message, e.Title, code} {
			if text != "" {
				return sanitize.Cut(strings.TrimSpace(text), maxDetail)
			}
		}
	}
	return ""
}
