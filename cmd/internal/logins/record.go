package logins

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolman/mcpwire/sanitize"
)

// version is that of the format.
const version = 1

const (
	maxScopes = 8 << 10  // bytes of the scopes that a server asks for
	room      = 52 << 10 // bytes of a file for tokens, scopes that are granted, and a challenge
)

// A Key says whose login it is, and to what.
type Key struct {
	URL     string `json:"url"`     // of the MCP server, as requests are sent to it
	Account string `json:"account"` // any name; usually that of the server
	Agent   string `json:"agent,omitzero"`
}

// A Record is what a file has. It may be without tokens.
type Record struct {
	Version int `json:"version"`
	Key

	Issuer                string `json:"issuer,omitzero"`
	AuthorizationEndpoint string `json:"authorizationEndpoint,omitzero"`
	TokenEndpoint         string `json:"tokenEndpoint,omitzero"`
	RevocationEndpoint    string `json:"revocationEndpoint,omitzero"`
	Client                Client `json:"client,omitzero"`
	RedirectURI           string `json:"redirectUri,omitzero"`
	Resource              string `json:"resource,omitzero"` // "": none is sent

	Asked   []string `json:"asked,omitempty"`   // scopes
	Granted []string `json:"granted,omitempty"` // scopes

	AccessToken  string    `json:"accessToken,omitzero"`
	RefreshToken string    `json:"refreshToken,omitzero"`
	Expiry       time.Time `json:"expiry,omitzero"`   // zero: not known
	LoggedIn     time.Time `json:"loggedIn,omitzero"` // when a person did
	Renewed      time.Time `json:"renewed,omitzero"`  // when the tokens were issued

	Challenge *Challenge `json:"challenge,omitempty"` // the last one of the server
	Bound     string     `json:"bound,omitzero"`      // the issuer that the client_id of the configuration belongs to

	// Registered is the client of the last login if that was not completed. The next one uses it.
	Registered Client `json:"registered,omitzero"`

	// ClientRefused: the authorization server no longer knows the client, which the next login must
	// not use.
	ClientRefused bool `json:"clientRefused,omitzero"`
}

// A Client is toolman as an authorization server knows it.
type Client struct {
	ID          string `json:"id"`
	Secret      string `json:"secret,omitzero"`
	Method      string `json:"method"` // "basic", "post" or "none"
	RedirectURI string `json:"redirectUri,omitzero"`
	Scope       string `json:"scope,omitzero"` // that it is registered for
	Issuer      string `json:"issuer"`
	Origin      string `json:"origin"` // "configured", "document" or "registered"
}

// A Challenge is what a server has asked for when it refused a request.
type Challenge struct {
	Scopes   []string  `json:"scopes,omitempty"`
	Metadata string    `json:"metadata,omitzero"` // URL of protected resource metadata
	Error    string    `json:"error,omitzero"`
	At       time.Time `json:"at"`
}

// HasTokens reports whether requests can be authorized.
func (r *Record) HasTokens() bool { return r != nil && (r.AccessToken != "" || r.RefreshToken != "") }

// Describe returns where a login is, for what, and how long.
func (r *Record) Describe() string {
	scopes := strings.Join(r.Granted, " ")
	if scopes == "" {
		scopes = "no scopes"
	}
	text := sanitize.Cut(r.Issuer, 200) + " (" + sanitize.Cut(scopes, 1000) + ")"
	switch {
	case r.RefreshToken != "":
		return text + ", renewed by itself"
	case !r.Expiry.IsZero():
		return text + ", until " + r.Expiry.Local().Format(time.DateTime) + " without renewal"
	}
	return text + ", until the server ends it"
}

// DropTokens ends the login and keeps all else.
func (r *Record) DropTokens() {
	r.AccessToken, r.RefreshToken, r.Granted = "", "", nil
	r.Expiry, r.Renewed = time.Time{}, time.Time{}
}

// AddScopes adds what a server asks for to the scopes of the challenge, as long as these are few. It
// reports whether that changes anything.
func (r *Record) AddScopes(scopes []string, at time.Time) (changed bool) {
	if r.Challenge == nil {
		r.Challenge = &Challenge{At: at}
	}
	for _, s := range scopes {
		if !slices.Contains(r.Challenge.Scopes, s) && len(strings.Join(r.Challenge.Scopes, " "))+len(s) <= maxScopes {
			r.Challenge.Scopes, r.Challenge.At, changed = append(r.Challenge.Scopes, s), at, true
		}
	}
	return changed
}

// Errors of records, without the file. What to do is part of the text.
var (
	errDamaged = errors.New("is damaged; remove it and log in again")
	errForeign = errors.New("is the login to another server, or another account; remove it and log in again")
)

// parse reads the text of a file. Errors do not quote it.
func parse(text []byte) (*Record, error) {
	var v struct {
		Version int `json:"version"`
	}
	r := new(Record)
	switch err := json.Unmarshal(text, &v); {
	case err != nil:
		return nil, errDamaged
	case v.Version > version:
		return nil, fmt.Errorf("has version %d of the format, and this toolman reads version %d only; use a newer toolman, or remove the file and log in again", v.Version, version)
	case v.Version != version, json.Unmarshal(text, r) != nil, r.URL == "":
		return nil, errDamaged
	}
	return r, nil
}

// HasRoom reports whether a file can have the record with tokens of any length that is accepted.
func (r *Record) HasRoom() bool {
	bare := *r
	bare.DropTokens()
	bare.Challenge = nil
	text, err := bare.render()
	return err == nil && len(text) <= maxFile-room
}

// render returns the text of a file.
func (r *Record) render() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	r.Version = version
	err := e.Encode(r)
	return out.Bytes(), err
}
