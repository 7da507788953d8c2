package signin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/logins"
	"toolman/cmd/internal/signin/callback"
	"toolman/mcpwire/httpclient"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/sanitize"
	"toolman/mcpwire/streamhttp/credential"
)

// Where a client comes from.
const (
	configured = "configured" // client_id in the configuration
	document   = "document"   // client_id is the URL of a metadata document
	registered = "registered" // by dynamic registration (RFC 7591)
)

const grantDevice = "urn:ietf:params:oauth:grant-type:device_code" // RFC 8628

// chooseClient returns the client for a login with this redirect URI, which it registers if there is none.
func (f *Flow) chooseClient(ctx context.Context, redirectURI string) (*logins.Client, error) {
	c := &logins.Client{ID: f.ClientID, Secret: f.ClientSecret, RedirectURI: redirectURI, Issuer: f.as.Issuer}
	isURL := isDocument(f.ClientID)
	last, known := f.old.Client, f.registration()
	switch {
	case f.ClientID != "" && !isURL:
		if bound := f.old.Bound; bound != "" && bound != f.as.Issuer && f.Issuer == "" && (last.ID == f.ClientID || last.Origin != configured) {
			return nil, cli.Failed(fmt.Errorf("client_id in oauth of server %s belongs to the authorization server %s, where it was first used, and the server now names %s; it gets nothing of the client",
				sanitize.Line(f.Name), sanitize.Cut(bound, maxShown), sanitize.Cut(f.as.Issuer, maxShown)),
				fmt.Sprintf("if that is right, set issuer = %q in oauth of the server; otherwise do not log in", sanitize.Cut(f.as.Issuer, maxShown)))
		}
		c.Origin, c.Method = configured, f.method(c.Secret != "")
		return c, nil
	case isURL && f.as.Documents:
		c.Origin, c.Method, c.Secret = document, credential.Public, ""
		return c, nil
	case known.ID != "" && known.RedirectURI == redirectURI && isSubset(f.scopes, strings.Fields(known.Scope)):
		return &known, nil
	case f.as.Registration == "":
		return nil, cli.Failed(fmt.Errorf("the authorization server %s registers no clients by itself", sanitize.Cut(f.as.Issuer, maxShown)), f.registerByHand())
	}
	return f.register(ctx, redirectURI)
}

// registration returns the client that was last registered at the authorization server, and that
// this still knows as far as toolman knows. It returns the zero Client if there is none.
func (f *Flow) registration() logins.Client {
	old := f.old.Registered
	if old.ID == "" && !f.old.ClientRefused {
		old = f.old.Client
	}
	if old.Issuer == f.as.Issuer && old.Origin == registered && old.ID != "" {
		return old
	}
	return logins.Client{}
}

const registersAnew = "run the command again: toolman registers anew"

// forget notes that the authorization server does not know a registered client, so that the next
// login registers anew.
func (f *Flow) forget(ctx context.Context, c *logins.Client) {
	if c.Origin != registered {
		return
	}
	err := f.File.Update(context.WithoutCancel(ctx), func(r *logins.Record) error {
		if r.Registered.ID == c.ID {
			r.Registered = logins.Client{}
		}
		r.ClientRefused = r.ClientRefused || r.Client.ID == c.ID
		return nil
	})
	if err != nil {
		f.Say(f.Name + ": " + err.Error())
	}
}

// registerByHand says what to do where toolman cannot register.
func (f *Flow) registerByHand() string {
	return "register an app at the service, with the redirect URI " + orDefault(f.RedirectURI) + `, and write its ID into tools.toml: oauth = { client_id = "…" }, with client_secret if it has one`
}

func orDefault(uri string) string {
	if uri == "" {
		return callback.DefaultURI
	}
	return uri
}

// isDocument reports whether a client_id is the URL of a metadata document.
func isDocument(id string) bool {
	u, err := url.Parse(id)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil && u.Fragment == "" && strings.Trim(u.Path, "/") != ""
}

// The methods of clients at token endpoints, by their names in metadata.
var methods = [...]struct{ name, method string }{
	{"client_secret_basic", credential.Basic}, {"client_secret_post", credential.Post}, {"none", credential.Public},
}

// method returns how a client authenticates.
func (f *Flow) method(hasSecret bool) string {
	if !hasSecret {
		return credential.Public
	}
	_, method := f.withSecret()
	return method
}

// withSecret returns the first way to authenticate with a secret that the server lists, and its name
// in metadata. The order counts: the Python SDK lists two, and does not take the second as others
// send it.
func (f *Flow) withSecret() (name, method string) {
	for _, name := range f.as.Methods {
		for _, m := range methods {
			if m.name == name && m.method != credential.Public {
				return m.name, m.method
			}
		}
	}
	return "client_secret_basic", credential.Basic // as RFC 8414 says of a server that lists none
}

// register registers a client (RFC 7591) for this redirect URI, or for a device if it is "".
func (f *Flow) register(ctx context.Context, redirectURI string) (*logins.Client, error) {
	name := f.ClientName
	if name == "" {
		name = "toolman"
	}
	asks := "none"
	if len(f.as.Methods) > 0 && !slices.Contains(f.as.Methods, asks) {
		asks, _ = f.withSecret()
	}
	grants := []string{"authorization_code", "refresh_token"}
	if redirectURI == "" {
		grants = append(grants, grantDevice)
	}
	metadata := map[string]any{
		"client_name": name, "application_type": "native", "token_endpoint_auth_method": asks,
		"redirect_uris": []string{orDefault(redirectURI)}, // servers want one for a device, too
		"grant_types":   grants, "response_types": []string{"code"},
	}
	if len(f.scopes) > 0 {
		metadata["scope"] = strings.Join(f.scopes, " ")
	}
	doc, resp, err := f.postRegistration(ctx, metadata)
	if err == nil && len(f.scopes) > 0 && resp.StatusCode/100 != 2 && doc.Text("error") == "invalid_client_metadata" {
		delete(metadata, "scope") // some servers know the scopes of resources only when they are asked for tokens
		doc, resp, err = f.postRegistration(ctx, metadata)
	}
	if err != nil {
		text, _ := httpclient.Explain(err)
		return nil, f.notRegistered(errors.New(text))
	}
	if resp.StatusCode/100 != 2 {
		return nil, f.notRegistered(errors.New(refusal(doc, resp)))
	}
	c := &logins.Client{ID: doc.Text("client_id"), Secret: doc.Text("client_secret"), RedirectURI: redirectURI, Scope: strings.Join(f.scopes, " "), Issuer: f.as.Issuer, Origin: registered}
	if c.ID == "" {
		return nil, f.notRegistered(errors.New("its answer has no client_id"))
	}
	f.Secret(c.Secret)
	got := doc.Text("token_endpoint_auth_method")
	if got == "" {
		got = asks
	}
	if c.Secret == "" {
		got = "none"
	} else if got == "none" && !doc.Has("token_endpoint_auth_method") {
		got = "client_secret_basic" // the default of RFC 7591
	}
	for _, m := range methods {
		if m.name == got {
			c.Method = m.method
			return c, nil
		}
	}
	return nil, f.notRegistered(fmt.Errorf("it wants clients to authenticate by %s, which toolman does not support", sanitize.Quoted(got, maxShown)))
}

// postRegistration sends the metadata of a client.
func (f *Flow) postRegistration(ctx context.Context, metadata map[string]any) (httpclient.Object, *http.Response, error) {
	body, err := json.Marshal(metadata)
	if err != nil {
		return nil, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.as.Registration, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", httpheader.JSON)
	return httpclient.GetObject(ctx, f.http, req)
}

// notRegistered returns the error of a registration.
func (f *Flow) notRegistered(err error) error {
	hint := f.registerByHand()
	if f.as.Legacy {
		hint += "; if the server takes a token that never changes, write it into headers instead"
	}
	return cli.Failed(fmt.Errorf("the authorization server %s does not register toolman as a client: %w", sanitize.Cut(f.as.Issuer, maxShown), err), hint)
}

// refusal returns what an authorization server says of a request that it refuses: its code and
// words, or else the status and the beginning of a plain text.
func refusal(doc httpclient.Object, resp *http.Response) string {
	if code := doc.Text("error"); code != "" {
		if words := doc.Text("error_description"); words != "" {
			return sanitize.Cut(code, maxShown) + ": " + sanitize.Cut(words, maxShown)
		}
		return sanitize.Cut(code, maxShown)
	}
	text := sanitize.Cut(resp.Status, maxShown)
	if httpheader.MediaType(resp.Header) == "text/plain" {
		if body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10)); err == nil && len(body) > 0 {
			text += ": " + sanitize.Cut(strings.TrimSpace(string(body)), maxShown)
		}
	}
	return text
}
