package main

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"toolman/cmd/internal/config"
	"toolman/mcpwire/httpclient"
	"toolman/mcpwire/streamhttp"
	"toolman/mcpwire/streamhttp/credential"
	"toolman/router/dial"
)

// dialer returns what connects to a server of the configuration that is reached over HTTP.
func dialer(s *config.Server) func(log func(line string)) (dial.Conn, error) {
	if s.Remote == nil {
		return nil
	}
	return func(log func(line string)) (dial.Conn, error) {
		o := streamhttp.Options{URL: s.Remote.URL, Header: s.Remote.Header.Clone(), CAFile: s.Remote.CAFile, FrameLimit: s.MaxMessageBytes,
			Parallel: maxCalls(s) + ownRequests}
		if o.Header.Get("User-Agent") == "" {
			o.Header.Set("User-Agent", userAgent())
		}
		var err error
		if o.Credential, err = credentialOf(s.Remote); err != nil {
			return nil, err
		}
		return dial.HTTP(o, log)
	}
}

// ownRequests is how many requests a server at a url may have under way besides calls.
const ownRequests = 256

// maxCalls is how many calls a server has at once; 0 is any number.
func maxCalls(s *config.Server) int {
	const remote = 256
	if s.Remote != nil {
		return cmp.Or(s.MaxCalls, remote)
	}
	return s.MaxCalls
}

// maxCallsAt is where maxCalls is written.
func maxCallsAt(s *config.Server, file string) string {
	if s.MaxCalls == 0 {
		return "the default for a url"
	}
	return fmt.Sprintf("%s:%d", file, s.MaxCallsLine)
}

// commandOf is how a server is started or reached, for the trace.
func commandOf(s *config.Server) string {
	switch {
	case s.Socket != "":
		return "socket " + s.Socket
	case s.Remote == nil:
		return strings.Join(s.Argv, " ")
	}
	u, err := url.Parse(s.Remote.URL)
	if err != nil {
		return ""
	}
	return httpclient.Shown(u)
}

func userAgent() string { return "toolman/" + strings.Fields(version())[0] }

// credentialOf is what gets the tokens that a server wants; nil when it wants none.
func credentialOf(r *config.Remote) (streamhttp.Credential, error) {
	if r.OAuth == nil {
		return nil, nil
	}
	client, err := httpclient.New(httpclient.Options{CAFile: r.CAFile})
	if err != nil {
		return nil, err
	}
	of := credential.OAuth{TokenURL: r.OAuth.TokenURL, ClientID: r.OAuth.ClientID, ClientSecret: r.OAuth.ClientSecret,
		Scopes: r.OAuth.Scopes, HTTP: client}
	if r.OAuth.TokenFile != "" {
		return credential.NewTokenFile(r.OAuth.TokenFile, of), nil
	}
	if u, err := url.Parse(r.URL); err == nil {
		of.Resource = httpclient.Shown(u)
	}
	return credential.NewClientCredentials(of), nil
}
