package callback

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/mcpwire/sanitize"
)

const maxShown = 200 // characters of a foreign text that are shown

// An Expected is what the answer to an authorization request has to be.
type Expected struct {
	State       string
	Issuer      string // what iss must equal, without any normalization
	SendsIssuer bool   // there has to be an iss
}

// An Answer is what came back of an authorization request.
type Answer struct {
	Code string // if Err is nil
	Err  error
	// InvalidClient: the authorization server does not accept the client. If it does not know the
	// client, it usually says so on a page and sends no answer.
	InvalidClient bool
}

// answer reads the query of a redirect. ok is false if it is not the answer to this request.
func (e *Expected) answer(query url.Values) (a Answer, ok bool) {
	state := query["state"]
	if len(state) != 1 || e.State == "" || subtle.ConstantTimeCompare([]byte(state[0]), []byte(e.State)) != 1 {
		return Answer{}, false
	}
	return e.read(query), true
}

// read reads a query with the right state.
func (e *Expected) read(query url.Values) Answer {
	again := "somebody may have interfered: run the command again, and if that happens again, do not log in and tell the operator of the authorization server"
	iss, codes, refused := query["iss"], query["code"], query["error"]
	switch {
	case len(iss) == 0 && e.SendsIssuer:
		return failed(fmt.Errorf("the answer to the login does not say that it is from %s (iss), which that server says all its answers do; it is not used", e.shown()), again)
	case len(iss) > 1 || len(iss) == 1 && iss[0] != e.Issuer:
		return failed(fmt.Errorf("the answer to the login is not from %s, which was asked: its iss is another one; it is not used", e.shown()), again)
	case len(refused) > 0:
		return e.refused(refused[0], query.Get("error_description"))
	case len(codes) != 1 || codes[0] == "":
		return failed(fmt.Errorf("the answer of %s to the login has no code", e.shown()), "run the command again; if that happens again, tell the operator of the authorization server")
	}
	return Answer{Code: codes[0]}
}

func failed(err error, hint string) Answer { return Answer{Err: cli.Failed(err, hint)} }

// refused returns the answer for an error that an authorization server redirects with.
func (e *Expected) refused(code, description string) Answer {
	text := sanitize.Cut(code, maxShown)
	if description != "" {
		text += ": " + sanitize.Cut(description, maxShown)
	}
	hint := "run the command again; if that happens again, look up the error in the documentation of the service"
	switch code {
	case "access_denied":
		hint = "somebody denied the login, or is not allowed to; to log in, run the command again and approve it"
	case "invalid_scope":
		hint = "set scopes in oauth of the server to those that the service has"
	case "unauthorized_client", "invalid_request":
		hint = "check client_id and redirect_uri in oauth of the server, and what is registered at the service for that client"
	case "invalid_target":
		hint = `set resource in oauth of the server to what the service expects, or to "" to send none`
	}
	a := failed(fmt.Errorf("%s refuses the login: %s", e.shown(), text), hint)
	a.InvalidClient = code == "unauthorized_client" || code == "invalid_client"
	return a
}

func (e *Expected) shown() string { return sanitize.Cut(e.Issuer, maxShown) }

const maxPasted = 64 << 10

// Pasted reads the URL that the user's browser was redirected to, and that it may have failed to
// load. It fails if text is not such a URL of this login; the user may try again.
func (e *Expected) Pasted(text, redirectURI string) (Answer, error) {
	text = strings.Trim(strings.TrimSpace(text), `"'<>`)
	want, err := url.Parse(redirectURI)
	if err != nil {
		return Answer{}, err
	}
	u, err := url.Parse(text)
	if err != nil || len(text) > maxPasted || u.Scheme != want.Scheme || u.Host != want.Host || pathOf(u) != pathOf(want) || u.User != nil {
		return Answer{}, errors.New("that is not the whole URL that the browser ended at: it starts with " + redirectURI)
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err == nil {
		if a, ok := e.answer(query); ok {
			return a, nil
		}
	}
	return Answer{}, errors.New("that is the URL of another login: its state is not that of the URL above")
}

// pathOf returns the path that a browser asks for.
func pathOf(u *url.URL) string {
	if path := u.EscapedPath(); path != "" {
		return path
	}
	return "/"
}
