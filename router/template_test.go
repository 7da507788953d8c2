package router

import (
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/view"
)

// What comes of each template is what the SDKs' own functions say: ts is UriTemplate.match of the
// TypeScript SDK (1.32.2 and 2.4.0), py1 ResourceTemplate.matches of the Python SDK 1.30.0, py2
// UriTemplate.match of 2.3.0, and rfc is what only RFC 6570 makes.
func TestTemplatesMatchWhatServersAccept(t *testing.T) {
	for _, tt := range []struct {
		template string
		makes    []string
		not      []string
	}{
		{"item://{id}", []string{
			"item://x%20y",     // all
			"item://x%20y?q=1", // ts py1
			"item://a:b@c",     // ts py1 py2
			"item://x#f",       // ts py1
			"item://größe",     // py1 py2, and ts as item://gr%C3%B6%C3%9Fe
			"item://a,b",       // py1 rfc
			"item://",          // py2 rfc
		}, []string{"item://a/b", "item://a?q=x/y", "item://a\tb", "item://a\nb", "item:/a", "xitem://a"}},
		{"item://{id}/x", []string{"item://a?b/x"}, []string{"item://a", "item://a/b/x", "item://a/x/y"}},
		{"r://{a}-{b}.json", []string{"r://x?y-1,2.json"}, []string{"r://x.json", "r://x/y-1.json"}},
		{"r://h/{a,b}", []string{"r://h/1", "r://h/1,2", "r://h/1?2"}, []string{"r://h/1/2"}}, // py2 takes the second alone
		{"r://h/{a*}", []string{"r://h/1,2", "r://h/1/2"}, []string{"r://x/1"}},               // FastMCP the second
		{"file:///{+path}", []string{"file:///a/b", "file:///a/b?c#d", "file:///a b", "file:///"}, []string{"file://a", "file:///a\nb"}},
		{"r://h{#at}", []string{"r://h#a", "r://h#a/b?c", "r://h", "r://ha"}, []string{"r://g#a", "r://"}}, // ts wants no #
		{"r://h/a{.ext}", []string{"r://h/a.json", "r://h/a.tar.gz", "r://h/a.x?y", "r://h/a"}, []string{"r://h/ajson", "r://h/a.x/y"}},
		{"r://h{/a}", []string{"r://h/1", "r://h/1?x", "r://h"}, []string{"r://h1", "r://h/1/2"}},
		{"r://h{/a*}/x", []string{"r://h/1/2/x", "r://h/1,2/x", "r://h/x"}, []string{"r://h1/x", "r://h/1/2"}},
		{"r://h{/a,b}", []string{"r://h/1/2", "r://h/1"}, []string{"r://h1"}},
		{"r://h{;a}", []string{"r://h;a=1", "r://h;a", "r://h1"}, []string{"r://h/1"}}, // ts the last
		{"r://h{?a,b}", []string{
			"r://h?a=1/2&b=3",     // ts
			"r://h?b=3&c=4",       // py2
			"r://h",               // py2 rfc
			"r://h#f",             // py2
			"r://h?a=1#f",         // py2
			"r://h?a=%C3%A4&b=",   // all but ts
			"r://h?a=ä b&b=[x:@]", // py2
		}, []string{"r://h&a=1", "r://hx", "r://h/?a=1"}},
		{"r://h?k=1{&a}", []string{"r://h?k=1&a=2/3", "r://h?k=1"}, []string{"r://h?k=1a", "r://h?k=2&a=1"}},
		{"r://(.)+/{id}", []string{"r://(.)+/1?2"}, []string{"r://a/1"}},
	} {
		g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "ns", templates: []string{tt.template}})
		for _, uri := range tt.makes {
			checkURI(t, g.view(), "ns_"+uri, "ns "+uri, catalog.Active)
			checkURI(t, g.view(), uri, "ns "+uri, catalog.Active)
		}
		for _, uri := range tt.not {
			checkURI(t, g.view(), "ns_"+uri, "", catalog.Unknown)
			checkURI(t, g.view(), uri, "", catalog.Unknown)
		}
	}
}

// Only what no template makes by RFC 6570, and is no item's name, is matched as servers do.
// Matching takes time for each byte and template.
func TestNoTemplateMakesAVeryLongURI(t *testing.T) {
	const template = "f:///{+p}"
	g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "ns", templates: []string{template}})
	long := "f:///" + strings.Repeat("x", len(template)+catalog.MaxMatched-len("f:///"))
	checkURI(t, g.view(), "ns_"+long, "ns "+long, catalog.Active)
	checkURI(t, g.view(), "ns_"+long+"x", "", catalog.Unknown)
}

func TestWhatATemplateMakesByTheStandardIsThatTemplates(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}},
		offer{namespace: "ns", templates: []string{"r://{id}"}}, offer{namespace: "ns", templates: []string{"r://{id}{?q}"}},
		offer{namespace: "a", templates: []string{"s://{id}", "{any}"}}, offer{namespace: "b", templates: []string{"s://{id}{?q}"}},
		offer{namespace: "x", resources: []string{"listed"}})
	checkURI(t, g.view(), "ns_r://1", "ns r://1", catalog.Active)
	checkURI(t, g.view(), "ns_r://1?q=2", "ns (server 2) r://1?q=2", catalog.Active)
	checkURI(t, g.view(), "ns_r://1@2", "ns r://1@2", catalog.Active)
	checkURI(t, g.view(), "s://1?q=2", "b s://1?q=2", catalog.Active)
	checkURI(t, g.view(), "s://1@2", "a s://1@2", catalog.Ambiguous)
	checkURI(t, g.view(), "x:listed", "x listed", catalog.Active) // and not what a's {any} may be
}

// withholding is what each way to keep an item from clients comes to: a rig whose first server has
// one template or more that may be used and one that may not.
func withholding(t *testing.T, want catalog.Verdict, open []string, kept string, others ...offer) *view.View {
	t.Helper()
	offers := append([]offer{{namespace: "ns", templates: append([]string{kept}, open...)}}, others...)
	switch want {
	case catalog.Denied:
		lists := map[string][]string{"ns": open}
		for _, o := range others {
			lists[o.namespace] = []string{"*"}
		}
		return exposes(t, lists, offers...).view()
	case catalog.Held:
		v := newRig(t, setup{active: []string{"*"}}, offers...)
		pins := catalog.Pins{}
		for k := range pins {
			pins[k] = map[string]string{}
		}
		for _, e := range v.everyEntry() {
			if e.Name != "ns_"+kept {
				pins[e.Item.Kind][e.Name] = e.RefID()
			}
		}
		return newRig(t, setup{active: []string{"*"}, Options: Options{Pins: &pins}}, offers...).view()
	}
	v := newRig(t, setup{active: []string{"*"}}, offers...).view()
	return v.Apply(&view.Switches{ResourcesOff: []string{"ns_" + kept}})
}

func TestAnItemThatClientsMayNotUseIsNotHadByAnotherTemplate(t *testing.T) {
	for _, want := range []catalog.Verdict{catalog.Denied, catalog.Held, catalog.Inactive} {
		t.Run(want.String(), func(t *testing.T) {
			for _, tt := range []struct {
				name, open, kept string
				uris             map[string]catalog.Verdict // Unknown here: want
			}{
				{"a narrower template", "file:///{+path}", "file:///secret/{name}",
					map[string]catalog.Verdict{"file:///secret/x": catalog.Unknown, "file:///secret/x?y": catalog.Unknown, "file:///public/x": catalog.Active, "file:///secrets": catalog.Active}},
				{"a wider template", "file:///docs/{name}", "file:///{+path}",
					map[string]catalog.Verdict{"file:///docs/x": catalog.Active, "file:///x": catalog.Unknown, "file:///docs/x/y": catalog.Unknown, "file:///docs/x?y": catalog.Unknown}},
				{"the same with a query", "r://{id}", "r://{id}{?secret}",
					map[string]catalog.Verdict{"r://1": catalog.Active, "r://1?secret=2": catalog.Unknown, "r://1?secret=2/3": catalog.Unknown, "r://1?x": catalog.Unknown}},
				{"the same without its query", "r://{id}{?q}", "r://{id}", map[string]catalog.Verdict{"r://1": catalog.Unknown, "r://1?q=2": catalog.Unknown, "r://1@2": catalog.Unknown}},
				{"the same under another name", "r://{a}", "r://{b}", map[string]catalog.Verdict{"r://1": catalog.Unknown, "r://1?x": catalog.Unknown}},
				{"one that makes some of the same", "r://{a}/x", "r://x/{b}", map[string]catalog.Verdict{"r://x/x": catalog.Unknown, "r://y/x": catalog.Active, "r://x/y": catalog.Unknown}},
				{"one that is no template by the standard", "r://{+a}", "r://x/{secret-id}", map[string]catalog.Verdict{"r://x/1": catalog.Unknown, "r://y/1": catalog.Active}},
				{"one that is no template by the standard and fits all", "r://x/{a}", "r://x/{secret-id}", map[string]catalog.Verdict{"r://x/1": catalog.Unknown, "r://x/": catalog.Unknown}},
				{"one with slashes", "r://{id}", "r://{+path}", map[string]catalog.Verdict{"r://1": catalog.Active, "r://1/2": catalog.Unknown}},
				{"a wider template with a query", "r://a/{id}", "r://{x}/{id}{?secret}",
					map[string]catalog.Verdict{"r://a/1": catalog.Active, "r://a/1?secret=2": catalog.Unknown, "r://a/1?secret=@": catalog.Unknown}},
			} {
				v := withholding(t, want, []string{tt.open}, tt.kept)
				for uri, verdict := range tt.uris {
					if verdict == catalog.Unknown {
						verdict = want
					}
					for _, spelled := range []string{uri, "ns_" + uri} {
						if _, got := v.FindURI([]byte(spelled)); got != verdict {
							t.Errorf("%s: %s is %s, want %s", tt.name, spelled, got, verdict)
						}
					}
				}
			}
		})
	}
}

func TestAnotherServersTemplatesDoNotStandInTheWay(t *testing.T) {
	for _, want := range []catalog.Verdict{catalog.Denied, catalog.Held, catalog.Inactive} {
		v := withholding(t, want, nil, "r://{id}", offer{namespace: "other", templates: []string{"r://{id}"}})
		for _, uri := range []string{"r://1", "r://1?x", "r://.."} {
			checkURI(t, v, uri, "other "+uri, catalog.Active)
			checkURI(t, v, "other_"+uri, "other "+uri, catalog.Active)
		}
	}
}

// Servers parse a URI before they look for its resource. What a parser makes of it may be the URI
// of one that the client may not have.
func TestAURIThatParsersRewriteIsNotHadWhereSomethingIsKept(t *testing.T) {
	for _, tt := range []struct {
		template    string
		same, other []string // that parsers keep and do not
	}{
		{"file:///pub/{+path}",
			[]string{"file:///pub/a", "file:///pub/a..b/...", "file:///pub/a%2F..%2Fb", "file:///pub/a?b=../c", "file:///pub/it's"},
			[]string{"file:///pub/../secret", "file:///pub/a/%2e%2E/../secret", "file:///pub/./a", "file:///pub/..", "file:///pub/a b", "file:///pub/é", `file:///pub/\..\secret`,
				"file:///pub/?a='", "file:///pub/<a>"}},
		{"r://{id}", []string{"r://a", "r://A%20b", "r://a?b=c"}, []string{"r://@a", "r://a:", "r://u:@a", "r://[::1]", "r://..", "r://%2e"}},
		{"{+any}", []string{"r://a/b", "urn:a:b", "https://a.example/b", "file:///a", "r:a@b"},
			[]string{"R://a/b", "HTTPS://a/b", "https://A/b", "https://a:443/b", "https://a", "https:/a/b", "https:a", "https://u@a/b", "https://0x7f.1/b", "https://1.2.3.4/b",
				"https://%61/b", "file://localhost/a", "file:a", "r:a/../b"}},
		{"https://a.example:443/é/{id}", []string{"https://a.example:443/é/1"}, []string{"https://a.example:443/é/.."}},
	} {
		g := newRig(t, setup{active: []string{"*"}}, offer{templates: []string{tt.template}, resources: []string{"kept:it"}}, offer{namespace: "ns", resources: []string{"x:y"}})
		all := g.view().Apply(&view.Switches{ResourcesOff: []string{"ns_x:y"}}) // another server's
		some := g.view().Apply(&view.Switches{ResourcesOff: []string{"kept:it"}})
		for _, uri := range tt.same {
			checkURI(t, some, uri, "server 1 "+uri, catalog.Active)
		}
		for _, uri := range tt.other {
			checkURI(t, some, uri, "", catalog.Unknown)
			checkURI(t, all, uri, "server 1 "+uri, catalog.Active)
		}
	}
}

func TestWhatServersTakeForATemplatesURIIsPassedOn(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "ns", templates: []string{"item://{id}"}})
	g.client.says(requests(mcpwire.Resource, "ns_item://x%20y?q=1")["read"])
	if got := g.servers[0].hearsOne(); !strings.Contains(got, `"uri":"item://x%20y?q=1"`) {
		t.Errorf("the server hears %s", got)
	}
}
