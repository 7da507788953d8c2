package config

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolman/mcpwire/sanitize"
)

// A Remote is a server that toolman does not start but reaches over HTTP.
type Remote struct {
	URL           string
	Header        http.Header    // headers
	SessionHeader []SessionValue // and headers that are another for each session
	CAFile        string         // ca_file, absolute; "": the system's authorities only
	OAuth         *OAuth         // nil: none
}

const (
	exampleURL     = `"https://mcp.example.com/mcp"`
	exampleHeaders = `{ Authorization = "Bearer ${TOKEN}" }`
)

const headerPattern = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"

// headerForm is what names of headers are, and transportForm are those that the transport sets.
var (
	headerForm    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(headerPattern) })
	transportForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?i)(accept|connection|content-(length|type|encoding)|transfer-encoding|last-event-id|mcp-(session-id|protocol-version|method|name|param-.*))$`)
	})
)

// unexpanded is a Remote before references are replaced.
type unexpanded struct {
	url     string
	headers []member
	ca      string
	oauth   *writtenOAuth
}

// remote reads what a server with a url has.
func (d *decoder) remote(t table) unexpanded {
	t.note("oauth", form{})
	w := unexpanded{headers: t.headers(), oauth: d.oauth(t)}
	s, ok := t.text("url", exampleURL)
	t.note("url", form{"pattern": `^[hH][tT][tT][pP][sS]?://.|\$\{`})
	if ok && !strings.Contains(s, "${") && !remoteURL(s) {
		t.outsideURL()
	} else {
		w.url = s
	}
	w.ca, ok = t.text("ca_file", `"ca.pem"`)
	t.note("ca_file", filledForm())
	if ok && strings.TrimSpace(w.ca) == "" {
		t.outside("ca_file", "name a file of certificates in PEM form, or leave it out")
	}
	return w
}

// outsideURL notes that a URL is none, without showing it: there may be a password in it.
func (t table) outsideURL() {
	t.d.fail(t.values["url"].line, "write "+t.d.write("url", exampleURL), "url is no URL with http:// or https:// and a host")
}

func remoteURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.Fragment == ""
}

// headers is the table of that name, its strings as written.
func (t table) headers() []member {
	t.note("headers", mapForm(textForm()))
	t.note("headers", form{"propertyNames": form{"pattern": headerPattern}})
	n, ok := t.values["headers"]
	if !ok {
		return nil
	}
	all, ok := n.value.([]member)
	if !ok {
		t.wrong("headers", "a table of strings", exampleHeaders)
	}
	return slices.DeleteFunc(slices.Clone(all), func(m member) bool {
		_, isText := m.value.(string)
		switch {
		case !headerForm().MatchString(m.key):
			t.d.fail(m.line, "write "+t.d.write("headers", exampleHeaders), "headers holds %s, which is no name of a header", shown(m.key))
		case transportForm().MatchString(m.key):
			t.d.fail(m.line, "take it out", "headers holds %s, which toolman sets itself", shown(m.key))
		case !isText:
			t.d.fail(m.line, "put the value in quotes", "%s is %s where a string is expected", sanitize.Line("headers."+m.key), m.kind())
		default:
			return false
		}
		return true
	})
}

// expand is what is written with its references replaced; nil for a server without a url.
func (w unexpanded) expand(d *decoder, t table) *Remote {
	if w.url == "" {
		return nil
	}
	sc := scope{d: d, line: t.values["url"].line, key: "url"}
	before := len(d.problems)
	r := &Remote{URL: sc.clean(sc.expand(w.url)), Header: http.Header{}, OAuth: w.oauth.expand(d)}
	if !remoteURL(r.URL) && len(d.problems) == before {
		t.outsideURL()
	}
	if u, err := url.Parse(r.URL); err == nil && u.User != nil {
		password, _ := u.User.Password()
		d.secret(password)
	}
	for _, m := range w.headers {
		sc := scope{d: d, line: m.line, key: "headers." + m.key}
		if value := sc.session(m.key, m.value.(string)); value != nil {
			r.SessionHeader = append(r.SessionHeader, *value)
			continue
		}
		value := sc.clean(sc.expand(m.value.(string)))
		if strings.ContainsAny(value, "\r\n") {
			sc.fail("take the line break out", "it holds a line break")
		}
		d.secret(value)
		r.Header.Add(m.key, value)
	}
	if w.ca != "" {
		sc := scope{d: d, line: t.values["ca_file"].line, key: "ca_file"}
		r.CAFile = sc.absolute(sc.clean(sc.expand(w.ca)))
	}
	return r
}
