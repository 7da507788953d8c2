package endpoint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire/httpclient"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/sanitize"
)

const (
	maxErrorBody = 64 << 10
	maxDetail    = 300 // characters of a server's text that are shown
)

// A Failure is the reason why a message was not delivered, or a request got no response.
type Failure struct {
	Text      string        // for users: what happened, and what to do
	Status    int           // 0: there was no HTTP response
	Unsent    bool          // no part of the message was sent
	Transient bool          // a retry may succeed
	Reopened  bool          // an open subscription has broken off
	Ended     bool          // the connection ends with it
	Wait      time.Duration // that the server asked for
	RPC       []byte        // the server's own error object, to be passed on as it is
	Code      int64         // of RPC
}

// RPCFailure returns a JSON-RPC error as a failure.
func RPCFailure(m *jsonrpc.Message) *Failure {
	f := &Failure{RPC: bytes.Clone(m.Bytes(m.Err))}
	var e jsonrpc.Error
	if json.Unmarshal(f.RPC, &e) == nil {
		f.Code, f.Text = e.Code, sanitize.Cut(e.Message, maxDetail)
	}
	return f
}

// NetworkFailure returns an error below HTTP as a failure.
func NetworkFailure(err error, unsent bool) *Failure {
	f := &Failure{Unsent: unsent}
	f.Text, f.Transient = httpclient.Explain(err)
	return f
}

// Lost is the failure of a response that was not read to its end.
func Lost(err error) *Failure {
	f := NetworkFailure(err, false)
	f.Text += "; the server may have executed the request"
	return f
}

// NotMCP is the failure of a response that is not of a known media type.
func NotMCP(resp *http.Response) *Failure {
	kind := httpheader.MediaType(resp.Header)
	what := "a body of the type " + sanitize.Cut(kind, 64)
	switch kind {
	case "text/html":
		what = "a web page"
	case "":
		what = "a body without a Content-Type"
	}
	return &Failure{Status: resp.StatusCode, Text: "the server responds with " + what +
		" instead of application/json or text/event-stream; check that this is the URL of its MCP endpoint"}
}

// refusal reads a response with the status of an error. text, unless "", is what it means. What the
// server says is repeated without token.
func refusal(resp *http.Response, inSession bool, text, token string) *Failure {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	body = without(body, token)
	f := &Failure{}
	detail := ""
	var m jsonrpc.Message
	if jsonrpc.Scan(body, &m) == nil && m.Kind == jsonrpc.Response && m.Err.Present() {
		jsonrpc.OneLine(body)
		f = RPCFailure(&m)
		detail = f.Text
	} else {
		detail = detailOf(httpheader.MediaType(resp.Header), body)
	}
	f.Status, f.Wait = resp.StatusCode, httpheader.RetryAfter(resp.Header)
	switch f.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		f.RPC = nil // the text for the status is more useful
	case http.StatusTooManyRequests:
		f.RPC, f.Transient = nil, true
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		f.Transient = true
	}
	f.Text = cmp.Or(text, statusText(f, inSession))
	if text == "" && f.Status == http.StatusUnauthorized && strings.Contains(resp.Header.Get("WWW-Authenticate"), "resource_metadata") {
		f.Text += "; it names a server for logins"
	}
	if detail != "" {
		f.Text += "; the server says: " + detail
	}
	return f
}

// NotStreamable reports whether initialize failed in the way of a server that knows only the
// transport of 2024-11-05 (2025-11-25, Transports, Backwards Compatibility).
func (f *Failure) NotStreamable() bool {
	modern := f.Code <= -32020 && f.Code >= -32099
	return !modern && (f.Status == http.StatusBadRequest || f.Status == http.StatusNotFound || f.Status == http.StatusMethodNotAllowed)
}

// statusText returns what a status means and what to do.
func statusText(f *Failure, inSession bool) string {
	status := strconv.Itoa(f.Status) + " " + http.StatusText(f.Status)
	switch {
	case f.Status == http.StatusUnauthorized:
		return "the server requires credentials, or has rejected them (" + status + "); check the configured token or headers"
	case f.Status == http.StatusForbidden:
		return "the server denies access (" + status + "); check the permissions of the credentials, and whether the server accepts requests from this machine"
	case f.Status == http.StatusProxyAuthRequired:
		return "the proxy requires credentials (" + status + "); set them in HTTPS_PROXY"
	case f.Status == http.StatusNotFound && inSession:
		return "the server has lost the session (" + status + ")"
	case f.Status == http.StatusNotFound, f.Status == http.StatusMethodNotAllowed, f.Status == http.StatusGone:
		return "there is no MCP server at this URL (" + status + "); check the path, which ends in /mcp for many servers"
	case f.Status == http.StatusRequestEntityTooLarge:
		return "the message is too large for the server (" + status + ")"
	case f.Status == http.StatusTooManyRequests && f.Wait > 0:
		return "the server got too many requests (" + status + "); retry after " + f.Wait.String()
	case f.Status == http.StatusTooManyRequests:
		return "the server got too many requests (" + status + "); retry later"
	case f.Status/100 == 3:
		return "the server redirects without naming a URL to follow (" + status + "); configure the URL of its MCP endpoint"
	case f.Status >= 500:
		return "the server or a proxy before it failed (" + status + "); it may have executed the request"
	}
	return "the server refuses the request (" + status + ")"
}

// detailOf returns the text for users in a body that is not a JSON-RPC error.
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
