package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"toolman/cmd/internal/cli"
	"toolman/mcpwire/httpclient"
)

// A site answers requests for documents. In them, $ stands for its origin.
type site struct {
	*httptest.Server
	docs map[string]string // by path; one that starts with a number is a status

	mu    sync.Mutex
	asked []string // guarded by mu
}

func newSite(t *testing.T, docs map[string]string) *site {
	s := &site{docs: docs}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.RequestURI())
		s.mu.Unlock()
		doc, ok := s.docs[r.URL.RequestURI()]
		if !ok {
			doc = "404"
		}
		var status int
		if _, err := fmt.Sscanf(doc, "%d", &status); err == nil {
			w.WriteHeader(status)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, strings.ReplaceAll(doc, "$", s.URL))
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) at(t *testing.T, path string) *url.URL {
	t.Helper()
	u, err := url.Parse(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// finder returns a Finder whose words are in said.
func finder(t *testing.T) (f *Finder, said *[]string) {
	t.Helper()
	client, err := httpclient.NewGuarded(httpclient.Guard{HTTP: true, Private: true})
	if err != nil {
		t.Fatal(err)
	}
	said = new([]string)
	return &Finder{HTTP: client, Say: func(text string) { *said = append(*said, text) }}, said
}

// metadataOf returns metadata of an issuer whose endpoints are at $. changes replaces members; an
// empty value removes one.
func metadataOf(issuer string, changes ...string) string {
	doc := map[string]json.RawMessage{
		"issuer":                           json.RawMessage(`"` + issuer + `"`),
		"authorization_endpoint":           json.RawMessage(`"$/authorize"`),
		"token_endpoint":                   json.RawMessage(`"$/token"`),
		"code_challenge_methods_supported": json.RawMessage(`["S256"]`),
	}
	for i := 0; i < len(changes); i += 2 {
		if doc[changes[i]] = json.RawMessage(changes[i+1]); changes[i+1] == "" {
			delete(doc, changes[i])
		}
	}
	text, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func prm(resource, servers string) string {
	return `{"resource":"` + resource + `","authorization_servers":` + servers + `}`
}

// fails checks that an error has these words, in its text or its hint.
func fails(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	text := err.Error() + "; " + cli.Hint(err)
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in %s", w, text)
		}
	}
	if cli.Hint(err) == "" {
		t.Errorf("%v does not say what to do", err)
	}
}

func TestResourceMetadataAreLookedForWhereTheChallengeSaysThenByPathThenAtTheRoot(t *testing.T) {
	const challenge, byPath, root = "/elsewhere", "/.well-known/oauth-protected-resource/public/mcp", "/.well-known/oauth-protected-resource"
	for _, test := range []struct {
		named string
		docs  []string // that exist
		asked []string
	}{
		{challenge, []string{challenge, byPath, root}, []string{challenge}},
		{challenge, []string{byPath, root}, []string{challenge, byPath}},
		{"", []string{byPath, root}, []string{byPath}},
		{"", []string{root}, []string{byPath, root}},
		{"", nil, []string{byPath, root}},
	} {
		s := newSite(t, map[string]string{})
		for _, path := range test.docs {
			s.docs[path] = prm("$/public/mcp", `["https://as.example"]`)
		}
		named := ""
		if test.named != "" {
			named = s.URL + test.named
		}
		f, _ := finder(t)
		r, err := f.Resource(t.Context(), s.at(t, "/public/mcp"), named)
		if err != nil || !slices.Equal(s.asked, test.asked) {
			t.Errorf("%v: asked for %q, %v", test, s.asked, err)
		}
		if (r == nil) != (len(test.docs) == 0) {
			t.Errorf("%v: got %+v", test, r)
		}
	}
}

func TestMetadataThatExistButCannotBeReadEndTheSearch(t *testing.T) {
	const byPath = "/.well-known/oauth-protected-resource/mcp"
	for bad, why := range map[string]string{
		"500":                              "500 Internal Server Error",
		"503":                              "503 Service Unavailable",
		"429":                              "429 Too Many Requests",
		"<html>":                           "JSON",
		"[]":                               "JSON",
		`{"resource":`:                     "JSON",
		`{"resource":"$/other"}`:           "/other",
		`{}`:                               "are for",
		`{"resource":1}`:                   "are for",
		`{"resource":"https://evil.test"}`: "https://evil.test",
	} {
		s := newSite(t, map[string]string{byPath: bad, "/.well-known/oauth-protected-resource": prm("$/mcp", "[]")})
		f, _ := finder(t)
		_, err := f.Resource(t.Context(), s.at(t, "/mcp"), "")
		fails(t, err, why, s.URL)
		if len(s.asked) != 1 {
			t.Errorf("%s: asked for %q", bad, s.asked)
		}
	}
}

func TestAChallengeWithoutAURLIsSaid(t *testing.T) {
	s := newSite(t, map[string]string{"/.well-known/oauth-protected-resource": prm("$", `["https://as.example"]`)})
	for _, named := range []string{"/relative", "javascript:alert(1)", "https://user@host/x", "file:///etc/passwd", "%zz"} {
		f, said := finder(t)
		if r, err := f.Resource(t.Context(), s.at(t, "/mcp"), named); err != nil || r == nil || len(*said) != 1 {
			t.Errorf("%s: %+v, %v, said %q", named, r, err, *said)
		}
	}
}

func TestResourceIsTheServerOrAPartOfItsPath(t *testing.T) {
	for _, test := range []struct {
		id, server string
		want       bool
	}{
		{"https://a.example/mcp", "https://a.example/mcp", true},
		{"https://a.example/mcp/", "https://a.example/mcp", true},
		{"https://a.example/mcp", "https://a.example/mcp/", true},
		{"https://A.example:443/mcp", "https://a.example/mcp", true},
		{"https://a.example", "https://a.example/mcp", true},
		{"https://a.example/", "https://a.example/mcp", true},
		{"https://a.example/public", "https://a.example/public/mcp", true},
		{"https://a.example/mcp?x=1", "https://a.example/mcp?x=1", true},
		{"https://a.example/mcp", "https://a.example/mcp?x=1", true},
		{"https://a.example/mcp?x=2", "https://a.example/mcp?x=1", false},
		{"https://a.example/pub", "https://a.example/public/mcp", false},
		{"https://a.example/public/mcp/more", "https://a.example/public/mcp", false},
		{"https://a.example.evil.test/mcp", "https://a.example/mcp", false},
		{"http://a.example/mcp", "https://a.example/mcp", false},
		{"https://a.example:8443/mcp", "https://a.example/mcp", false},
		{"https://user@a.example/mcp", "https://a.example/mcp", false},
		{"https://a.example/mcp#x", "https://a.example/mcp", false},
		{"", "https://a.example/mcp", false},
	} {
		server, err := url.Parse(test.server)
		if err != nil {
			t.Fatal(err)
		}
		if got := covers(test.id, server); got != test.want {
			t.Errorf("covers(%q, %s) = %v", test.id, server, got)
		}
	}
}

func TestCanonicalHasNoQueryAndNoSlashAtTheRoot(t *testing.T) {
	for in, want := range map[string]string{
		"HTTPS://A.Example/": "https://a.example", "https://a.example/mcp?key=secret": "https://a.example/mcp", "https://a.example/mcp/": "https://a.example/mcp/",
	} {
		u, err := url.Parse(in)
		if err != nil || Canonical(u) != want {
			t.Errorf("%s: %s, %v", in, Canonical(u), err)
		}
	}
}

const (
	oauth  = "/.well-known/oauth-authorization-server"
	openID = "/.well-known/openid-configuration"
)

func TestServerMetadataAreLookedForInTheOrderOfTheSpecification(t *testing.T) {
	for _, test := range []struct {
		path  string
		order []string
	}{
		{"", []string{oauth, openID}},
		{"/", []string{oauth, openID}},
		{"/tenant1", []string{oauth + "/tenant1", openID + "/tenant1", "/tenant1" + openID}},
		{"/a/b/", []string{oauth + "/a/b", openID + "/a/b", "/a/b" + openID}},
	} {
		for n := range test.order {
			s := newSite(t, map[string]string{})
			for _, at := range test.order[n:] {
				s.docs[at] = metadataOf("$" + test.path)
			}
			f, _ := finder(t)
			got, err := f.Server(t.Context(), s.at(t, "/mcp"), &Resource{Servers: []string{s.URL + test.path}})
			if err != nil || got.Issuer != s.URL+test.path || got.Token != s.URL+"/token" || got.Legacy {
				t.Errorf("%s: %+v, %v", test.path, got, err)
			}
			if !slices.Equal(s.asked, test.order[:n+1]) {
				t.Errorf("%s: asked for %q", test.path, s.asked)
			}
		}
	}
}

func TestIssuerOfMetadataIsThatOfTheURLButForASlash(t *testing.T) {
	for _, test := range []struct{ named, said, configured, fails string }{
		{"$", "$", "", ""},
		{"$/", "$", "", ""}, // Google
		{"$", "$/", "", ""}, // JumpCloud
		{"$", "$//", "", "says in its metadata"},
		{"$", "https://evil.test", "", "https://evil.test"},
		{"$", "$/tenant", "", "/tenant"},
		{"$", "", "", "says in its metadata"},
		{"$/tenant", "$", "", `issuer = "$"`}, // Atlassian
		{"$/tenant", "$", "$", ""},
		{"$/tenant", "$/evil", "$", "/evil"},
	} {
		s := newSite(t, map[string]string{})
		for _, at := range []string{oauth, oauth + "/tenant"} {
			s.docs[at] = metadataOf(test.said)
		}
		here := func(text string) string { return strings.ReplaceAll(text, "$", s.URL) }
		f, _ := finder(t)
		f.Issuer = here(test.configured)
		got, err := f.Server(t.Context(), s.at(t, "/mcp"), &Resource{Servers: []string{here(test.named)}})
		switch {
		case test.fails != "":
			fails(t, err, here(test.fails))
		case err != nil || got.Issuer != here(test.said):
			t.Errorf("%v: %+v, %v", test, got, err)
		}
	}
}

func TestTheFirstServerThatIsUsableIsTakenUnlessOneIsConfigured(t *testing.T) {
	s := newSite(t, map[string]string{oauth + "/b": metadataOf("$/b"), oauth + "/c": metadataOf("$/c"), oauth + "/d": metadataOf("$/d")})
	r := &Resource{URL: s.URL + "/prm", Servers: []string{"javascript:alert(1)", s.URL + "/a", s.URL + "/b", s.URL + "/c"}}
	for configured, want := range map[string]string{"": "/b", "/c": "/c", "/c/": "/c", "/d": "/d"} {
		f, _ := finder(t)
		if configured != "" {
			f.Issuer = s.URL + configured
			if configured == "/d" { // named by nobody but the file
				r = &Resource{Servers: []string{s.URL + "/a"}}
			}
		}
		if configured == "/d" || len(r.Servers) == 4 {
			got, err := f.Server(t.Context(), s.at(t, "/mcp"), r)
			if err != nil || got.Issuer != s.URL+want {
				t.Errorf("%s: %+v, %v", configured, got, err)
			}
		}
	}
	f, _ := finder(t)
	f.Issuer = s.URL + "/d"
	if got, err := f.Server(t.Context(), s.at(t, "/mcp"), nil); err != nil || got.Issuer != s.URL+"/d" {
		t.Errorf("without resource metadata: %+v, %v", got, err)
	}
	f, _ = finder(t)
	_, err := f.Server(t.Context(), s.at(t, "/mcp"), &Resource{Servers: []string{s.URL + "/a", "https://user:pw@x.example", "https://x.example?q"}})
	fails(t, err, "none of", "/a has no metadata", "cannot be an authorization server")
	for _, bad := range []string{s.URL + "/b?q", s.URL + "/b#x", "ftp://as.example", "//as.example", ""} {
		_, err := f.Server(t.Context(), s.at(t, "/mcp"), &Resource{Servers: []string{bad}})
		fails(t, err, "cannot be an authorization server")
	}
	_, err = f.Server(t.Context(), s.at(t, "/mcp"), &Resource{URL: s.URL + "/prm"})
	fails(t, err, "name no authorization server", "/prm", "issuer")
}

func TestMetadataWithoutWhatALoginNeedsAreAnError(t *testing.T) {
	for _, test := range []struct{ key, value, fails string }{
		{"authorization_endpoint", "", "no authorization_endpoint"},
		{"authorization_endpoint", "7", "no authorization_endpoint"},
		{"token_endpoint", "", "no token_endpoint"},
		{"authorization_endpoint", `"javascript:alert(1)"`, "javascript:alert(1)"},
		{"authorization_endpoint", `"-x"`, `"-x"`},
		{"authorization_endpoint", `"file:///etc/passwd"`, "file:///etc/passwd"},
		{"authorization_endpoint", `"http://as.example/authorize"`, "neither https nor on this machine"},
		{"authorization_endpoint", `"https://user@as.example/authorize"`, "without a user"},
		{"authorization_endpoint", `"https://as.example/authorize#x"`, "which is not used"},
		{"authorization_endpoint", `"/authorize"`, "which is not used"},
		{"token_endpoint", `"ftp://as.example/token"`, "ftp://as.example/token"},
		{"registration_endpoint", `"javascript:1"`, "registration_endpoint"},
		{"revocation_endpoint", `"-x"`, "revocation_endpoint"},
		{"device_authorization_endpoint", `"x"`, "device_authorization_endpoint"},
		{"code_challenge_methods_supported", "", "assume_pkce"},
		{"code_challenge_methods_supported", `["plain"]`, "assume_pkce"},
		{"code_challenge_methods_supported", `"S256"`, "assume_pkce"},
	} {
		s := newSite(t, map[string]string{oauth: metadataOf("$", test.key, test.value)})
		f, _ := finder(t)
		_, err := f.Server(t.Context(), s.at(t, "/mcp"), &Resource{Servers: []string{s.URL}})
		if err == nil {
			t.Errorf("%s = %s is taken", test.key, test.value)
			continue
		}
		fails(t, err, test.fails)
		f.AssumePKCE = true
		if _, err = f.Server(t.Context(), s.at(t, "/mcp"), &Resource{Servers: []string{s.URL}}); (err == nil) != (test.fails == "assume_pkce") {
			t.Errorf("%s = %s: %v", test.key, test.value, err)
		}
	}
	for _, status := range []string{"500", "[]", "<html>"} {
		s := newSite(t, map[string]string{oauth: status, openID: metadataOf("$")})
		f, _ := finder(t)
		_, err := f.Server(t.Context(), s.at(t, "/mcp"), &Resource{Servers: []string{s.URL}})
		fails(t, err, "the metadata of the authorization server at "+s.URL)
	}
}

func TestADeviceNeedsItsEndpointAndNoPKCE(t *testing.T) {
	doc := metadataOf("$", "code_challenge_methods_supported", "", "authorization_endpoint", "", "device_authorization_endpoint", `"$/device"`)
	s := newSite(t, map[string]string{oauth: doc})
	f, _ := finder(t)
	f.Device = true
	if got, err := f.Server(t.Context(), s.at(t, "/mcp"), &Resource{Servers: []string{s.URL}}); err != nil || got.Device != s.URL+"/device" {
		t.Errorf("%+v, %v", got, err)
	}
	s.docs[oauth] = metadataOf("$")
	_, err := f.Server(t.Context(), s.at(t, "/mcp"), &Resource{Servers: []string{s.URL}})
	fails(t, err, "no login by device code", "--device")
}

func TestAServerOf2025_03_26IsItsOwnAuthorizationServer(t *testing.T) {
	for _, issuer := range []string{"$", "$/", "$/oauth"} {
		s := newSite(t, map[string]string{oauth: metadataOf(issuer)})
		f, said := finder(t)
		got, err := f.Server(t.Context(), s.at(t, "/deep/mcp?x=1"), nil)
		if err != nil || got.Issuer != strings.ReplaceAll(issuer, "$", s.URL) || !got.Legacy || len(*said) != 1 || s.asked[0] != oauth {
			t.Errorf("%s: %+v, %v, said %q, asked for %q", issuer, got, err, *said, s.asked)
		}
	}
	s := newSite(t, map[string]string{oauth: metadataOf("https://evil.test")})
	f, _ := finder(t)
	_, err := f.Server(t.Context(), s.at(t, "/mcp"), nil)
	fails(t, err, "https://evil.test", "issuer")

	s = newSite(t, nil)
	got, err := f.Server(t.Context(), s.at(t, "/mcp"), nil)
	want := Server{Issuer: s.URL, Authorization: s.URL + "/authorize", Token: s.URL + "/token", Registration: s.URL + "/register", Legacy: true}
	if err != nil || fmt.Sprint(*got) != fmt.Sprint(want) {
		t.Errorf("got %+v, %v", got, err)
	}
	s.docs = map[string]string{oauth: "500"}
	if _, err := f.Server(t.Context(), s.at(t, "/mcp"), nil); err == nil {
		t.Error("metadata that exist are ignored")
	}
	far, _ := url.Parse("http://10.1.2.3/mcp")
	f.HTTP = &http.Client{Transport: absent{}}
	_, err = f.Server(t.Context(), far, nil)
	fails(t, err, "http://10.1.2.3/authorize")
}

// absent answers every request with 404.
type absent struct{}

func (absent) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 404, Status: "404 Not Found", Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

func TestADiscoveryEndsWithItsContext(t *testing.T) {
	s := newSite(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f, _ := finder(t)
	if _, err := f.Resource(ctx, s.at(t, "/mcp"), ""); err == nil {
		t.Error("no error")
	}
	if _, err := f.Server(ctx, s.at(t, "/mcp"), &Resource{Servers: []string{s.URL, s.URL}}); err == nil || len(s.asked) > 0 {
		t.Errorf("%v, asked for %q", err, s.asked)
	}
}
