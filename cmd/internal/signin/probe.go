package signin

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/logins"
	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpclient"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/sanitize"
)

// A demand is what a server wants: a login if state is Wanted.
type demand struct {
	state    State
	record   *logins.Record
	metadata string   // URL of the protected resource metadata, from a challenge
	scopes   []string // from a challenge
}

// ask asks the server whether it wants a login. A request that it refused earlier counts, too.
func (f *Flow) ask(ctx context.Context) (demand, error) {
	client, err := f.serverClient()
	if err != nil {
		return demand{}, err
	}
	defer client.CloseIdleConnections()
	noted := f.old.Challenge
	if f.Credential != nil && f.old.HasTokens() && noted == nil && isSubset(f.Requested, f.old.Asked) {
		if good, err := f.isGood(ctx, client); err != nil || good {
			return demand{state: Already, record: f.old}, err
		}
		if again, err := f.File.Load(); err == nil && again != nil {
			f.old = again // what the credential has noted
		}
	}
	resp, err := f.probe(ctx, client, http.Header{})
	if err != nil {
		return demand{}, err
	}
	d := demand{state: Wanted}
	if noted != nil {
		d.metadata = noted.Metadata
	}
	bearer, challenged := httpheader.Bearer(httpheader.Challenges(resp.Header))
	switch {
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden && challenged:
		if at := bearer.Params["resource_metadata"]; at != "" {
			d.metadata = at
		}
		d.scopes = strings.Fields(bearer.Params["scope"])
	case noted != nil || f.old.HasTokens():
		// Some requests need no login, and others do.
	case resp.StatusCode/100 == 2:
		return demand{state: NotWanted}, nil
	default:
		return demand{}, cli.Failed(fmt.Errorf("server %s: %s answers %s, so it is unknown whether it wants a login", sanitize.Line(f.Name), httpclient.Shown(f.server), resp.Status),
			"check the url of the server; toolman check says more")
	}
	return d, nil
}

// isSubset reports whether all has each of some.
func isSubset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// isGood reports whether the server accepts the login that is in the file.
func (f *Flow) isGood(ctx context.Context, client *http.Client) (bool, error) {
	for range 2 {
		h := http.Header{}
		if err := f.Credential.Authorize(ctx, h); err != nil || h.Get("Authorization") == "" {
			return false, nil
		}
		resp, err := f.probe(ctx, client, h)
		if err != nil {
			return false, err
		}
		if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			return true, nil
		}
		if !f.Credential.Refused(h, resp).Again {
			return false, nil
		}
	}
	return false, nil
}

const probeTime = 30 * time.Second

// probe sends what MCP clients send first, until the server refuses something. It returns the last
// response, without its body: many servers want a login for everything, some only for lists.
func (f *Flow) probe(ctx context.Context, client *http.Client, credential http.Header) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	info := `{"name":"toolman","version":` + string(jsonrpc.AppendQuoted(nil, f.Version)) + `}`
	first, err := f.post(ctx, client, credential, http.Header{},
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+mcpwire.V2025_11_25+`","capabilities":{},"clientInfo":`+info+`}}`)
	if err != nil || first.StatusCode == http.StatusUnauthorized || first.StatusCode == http.StatusForbidden {
		return first, err
	}
	if first.StatusCode/100 == 2 {
		session := http.Header{httpheader.Version: {mcpwire.V2025_11_25}}
		if id := first.Header.Get(httpheader.Session); id != "" {
			session.Set(httpheader.Session, id)
			defer f.leave(client, credential, session)
		}
		second, err := f.post(ctx, client, credential, session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		if err == nil && (second.StatusCode == http.StatusUnauthorized || second.StatusCode == http.StatusForbidden) {
			return second, nil
		}
		return first, nil
	}
	modern, err := f.post(ctx, client, credential, http.Header{httpheader.Version: {mcpwire.V2026_07_28}, httpheader.Method: {"tools/list"}},
		`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{"`+mcpwire.KeyVersion+`":"`+mcpwire.V2026_07_28+`","`+mcpwire.KeyClientInfo+`":`+info+`,"`+mcpwire.KeyCapabilities+`":{}}}}`)
	return modern, err
}

// leave ends the session of a probe.
func (f *Flow) leave(client *http.Client, credential, session http.Header) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if resp, err := f.send(ctx, client, http.MethodDelete, credential, session, ""); err == nil {
		resp.Body.Close()
	}
}

// post sends a message.
func (f *Flow) post(ctx context.Context, client *http.Client, credential, header http.Header, message string) (*http.Response, error) {
	header.Set("Content-Type", httpheader.JSON)
	header.Set("Accept", httpheader.JSON+", "+httpheader.EventStream)
	resp, err := f.send(ctx, client, http.MethodPost, credential, header, message)
	if err != nil {
		text, _ := httpclient.Explain(err)
		return nil, cli.Failed(fmt.Errorf("server %s: %s: %s", sanitize.Line(f.Name), httpclient.Shown(f.server), text), "check the url of the server; toolman check says more")
	}
	resp.Body.Close()
	return resp, nil
}

func (f *Flow) send(ctx context.Context, client *http.Client, method string, credential, header http.Header, message string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, f.URL, strings.NewReader(message))
	if err != nil {
		return nil, err
	}
	for _, h := range []http.Header{f.Header, header, credential} {
		maps.Copy(req.Header, h)
	}
	return client.Do(req)
}
