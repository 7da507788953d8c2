package endpoint

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

// A Credential authorizes requests. Its methods may be called from any goroutine.
type Credential interface {
	// Authorize sets headers. It may ask another server for a token, until ctx ends. Its errors
	// contain no secrets. After a [Passing] error it is called again.
	Authorize(ctx context.Context, h http.Header) error
	// Refused hears of a response with the status 401 or 403 to a request with these headers. It
	// must not read the body.
	Refused(sent http.Header, resp *http.Response) Verdict
}

// A Verdict says what follows from a response with the status 401 or 403.
type Verdict struct {
	Again bool   // send the request once more, for a 401: Authorize may set something else
	Text  string // what users are told instead of what the status means; may be ""
	Ended bool   // no request can succeed before the credential changes: the connection ends
}

// A Passing is an error of a Credential that another try may not have.
type Passing struct {
	Err  error
	Wait time.Duration // before it; 0: not known
}

// Error implements error.
func (e *Passing) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *Passing) Unwrap() error { return e.Err }

// Unauthorized is the failure of a request that a Credential did not authorize.
func Unauthorized(err error) *Failure {
	f := &Failure{Text: err.Error()}
	if passing, ok := errors.AsType[*Passing](err); ok {
		f.Unsent, f.Transient, f.Wait = true, true, passing.Wait
	}
	return f
}

// Refusal reads a response with the status of an error, of which the credential hears. Unsent is set
// if the request is to be sent once more.
func (e *Endpoint) Refusal(req *http.Request, resp *http.Response, inSession bool) *Failure {
	v := e.Refused(req, resp)
	token := tokenOf(req.Header)
	f := refusal(resp, inSession, string(without([]byte(v.Text), token)), token)
	f.Ended = v.Ended
	if v.Again && f.Status == http.StatusUnauthorized {
		f.Unsent, f.Transient = true, true
	}
	return f
}

const minToken = 8 // bytes; a shorter one may be a part of any text

// tokenOf returns the credentials in a header, "" for none.
func tokenOf(h http.Header) string {
	_, token, _ := strings.Cut(h.Get("Authorization"), " ")
	return token
}

// without returns text without a token: some servers repeat the one that they refuse.
func without(text []byte, token string) []byte {
	if len(token) < minToken {
		return text
	}
	return bytes.ReplaceAll(text, []byte(token), []byte("…"))
}
