package discovery

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"toolman/cmd/internal/cli"
	"toolman/mcpwire"
	"toolman/mcpwire/httpclient"
	"toolman/mcpwire/httpheader"
)

// get returns the metadata at a URL, or nil if there are none. what they are is for errors.
func (f *Finder) get(ctx context.Context, at, what string) (httpclient.Object, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, cli.Failed(fmt.Errorf("%s cannot be fetched from %s, which is not a URL", what, quoted(at)), "the server's operator has to correct it")
	}
	req.Header.Set(httpheader.Version, mcpwire.V2025_11_25)
	doc, resp, err := httpclient.GetObject(ctx, f.HTTP, req)
	if err != nil {
		text, again := httpclient.Explain(err)
		hint := "the operator of that server has to correct it"
		if again {
			hint = "try again later"
		}
		return nil, cli.Failed(fmt.Errorf("%s at %s: %s", what, shownText(at), text), hint)
	}
	switch status := resp.StatusCode; {
	case status/100 == 2:
		return doc, nil
	case status/100 == 4 && status != http.StatusTooManyRequests:
		return nil, nil
	}
	return nil, cli.Failed(fmt.Errorf("%s at %s: the server answers %s", what, shownText(at), resp.Status), "try again later")
}

// read returns the authorization server that metadata describe.
func (f *Finder) read(doc httpclient.Object, at string) (*Server, error) {
	s := &Server{
		Issuer: doc.Text("issuer"), Authorization: doc.Text("authorization_endpoint"), Token: doc.Text("token_endpoint"),
		Registration: doc.Text("registration_endpoint"), Revocation: doc.Text("revocation_endpoint"), Device: doc.Text("device_authorization_endpoint"),
		Scopes: doc.Texts("scopes_supported"), Methods: doc.Texts("token_endpoint_auth_methods_supported"),
		Documents: doc.Bool("client_id_metadata_document_supported"), SendsIssuer: doc.Bool("authorization_response_iss_parameter_supported"),
	}
	correct := "the operator of the authorization server has to correct its metadata"
	for _, e := range []struct {
		key, url string
		needed   bool
	}{
		{"authorization_endpoint", s.Authorization, !f.Device},
		{"token_endpoint", s.Token, true},
		{"registration_endpoint", s.Registration, false},
		{"revocation_endpoint", s.Revocation, false},
		{"device_authorization_endpoint", s.Device, false},
	} {
		u, err := url.Parse(e.url)
		switch {
		case e.url == "" && e.needed:
			return nil, cli.Failed(fmt.Errorf("the metadata of the authorization server at %s have no %s", shownText(at), e.key), correct)
		case e.url != "" && (err != nil || !isWeb(u) || u.Fragment != ""):
			return nil, cli.Failed(fmt.Errorf("the metadata of the authorization server at %s have the %s %s, which is not used: it is not a URL of https without a user", shownText(at), e.key, quoted(e.url)), correct)
		}
	}
	if f.Device && s.Device == "" {
		return nil, cli.Failed(fmt.Errorf("the authorization server %s offers no login by device code", shownText(s.Issuer)), "leave --device out")
	}
	if f.Device {
		return s, nil
	}
	if err := checkAuthorization(s.Authorization); err != nil {
		return nil, err
	}
	if !f.AssumePKCE && !slices.Contains(doc.Texts("code_challenge_methods_supported"), "S256") {
		hint := "if you know that it does, write oauth = { assume_pkce = true }"
		if s.Registration == "" && !f.HasClient {
			hint += "; it registers no clients by itself, so oauth also needs the client_id of an app that you register there"
		}
		return nil, cli.Failed(fmt.Errorf("the metadata of the authorization server %s do not say that it supports PKCE with S256, which protects the login", shownText(s.Issuer)), hint)
	}
	return s, nil
}

// checkAuthorization checks the URL that a browser is to open.
func checkAuthorization(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || !isWeb(u) || u.Scheme == "http" && !httpclient.IsLoopback(u.Hostname()) {
		return cli.Failed(fmt.Errorf("the authorization endpoint %s is not opened: it is neither https nor on this machine", quoted(endpoint)),
			"the operator of the authorization server has to offer it by https")
	}
	return nil
}
