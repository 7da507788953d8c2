package router

import (
	"regexp"
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/upstream"
	"toolman/router/view"
)

// checkURI checks where a URI leads, as "server uri" or "".
func checkURI(t *testing.T, v *view.View, uri, want string, verdict catalog.Verdict) {
	t.Helper()
	where, got := v.FindURI([]byte(uri))
	leads := ""
	if where.Entry != nil {
		leads = upstream.Of(where.Source).Name + " " + where.Name()
	}
	if got != verdict || leads != want {
		t.Errorf("%q leads to %q, %s; want %q, %s", uri, leads, got, want, verdict)
	}
}

// Two servers with one namespace may both know what is behind a URI. The first that
// lists it has it, and when that is gone a template of the other is still good.
func TestATemplateOutlivesAnotherServersResource(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "ns", resources: []string{"r://x"}},
		offer{namespace: "ns", resources: []string{"r://x"}, templates: []string{"r://{id}"}})
	checkURI(t, g.view(), "ns_r://x", "ns r://x", catalog.Active)
	g.servers[0].dies()
	checkURI(t, g.view(), "ns_r://x", "ns (server 2) r://x", catalog.Active)
	checkList(t, "listed", namesOf(g.view().ActiveEntries(mcpwire.Resource)))
}

func TestFindURI(t *testing.T) {
	g := newRig(t, setup{active: []string{"on_*", "off_active://*", "two?_*", "bare://*", "mixed_mix://?id?"}},
		offer{namespace: "on", resources: []string{"file:///a", "shared://x", "odd uri ü"}, templates: []string{"doc://{id}", "deep://{+path}{?q}"}},
		offer{namespace: "off", resources: []string{"file:///b", "idle://x"}, templates: []string{"idle://{id}", "active://{id}"}},
		offer{namespace: "two1", resources: []string{"same://x"}, templates: []string{"tpl://{id}"}},
		offer{namespace: "two2", resources: []string{"same://x", "shared://x"}, templates: []string{"tpl://{id}"}},
		offer{resources: []string{"bare://x"}, templates: []string{"bare://t/{id}"}},
		offer{namespace: "mixed", resources: []string{"mix://secret", "mix://open"}, templates: []string{"mix://{id}"}},
		offer{namespace: "double", resources: []string{"d://1"}, templates: []string{"on_doc://{id}"}},
	)
	v := g.view()
	for _, tt := range []struct {
		name, uri, want string
		verdict         catalog.Verdict
	}{
		{"a listed resource", "on_file:///a", "on file:///a", catalog.Active},
		{"a listed resource of any characters", "on_odd uri ü", "on odd uri ü", catalog.Active},
		{"an inactive resource", "off_file:///b", "off file:///b", catalog.Inactive},
		{"a resource of a server without a namespace", "bare://x", "server 5 bare://x", catalog.Active},
		{"a template of a server without a namespace", "bare://t/1", "server 5 bare://t/1", catalog.Active},
		{"a template by its own name", "on_doc://{id}", "on doc://{id}", catalog.Active},
		{"an inactive template by its own name", "off_idle://{id}", "off idle://{id}", catalog.Inactive},
		{"what a template makes", "on_doc://7", "on doc://7", catalog.Active},
		{"what a template makes, escaped", "on_doc://a%20b", "on doc://a%20b", catalog.Active},
		{"what a template makes, with reserved characters", "on_deep://a/b/c?q=1", "on deep://a/b/c?q=1", catalog.Active},
		{"what a template does not make", "on_doc://a/b", "", catalog.Unknown},
		{"what a template makes and more", "on_doc://7\nx", "", catalog.Unknown},
		{"what an inactive template makes", "off_idle://7", "off idle://7", catalog.Inactive},
		{"what an active template of the same server makes", "off_active://7", "off active://7", catalog.Active},
		{"an unknown resource", "on_file:///b", "", catalog.Unknown},
		{"another case", "ON_file:///a", "", catalog.Unknown},
		{"another case of the scheme", "on_FILE:///a", "", catalog.Unknown},
		{"only the namespace", "on_", "", catalog.Unknown},
		{"nothing", "", "", catalog.Unknown},

		{"a bare URI", "file:///a", "on file:///a", catalog.Active},
		{"a bare URI of an inactive resource", "file:///b", "off file:///b", catalog.Inactive},
		{"a bare URI that two active resources have", "same://x", "two1 same://x", catalog.Ambiguous},
		{"a bare URI that two servers list", "shared://x", "on shared://x", catalog.Ambiguous},
		{"a bare URI that a template makes", "doc://7", "on doc://7", catalog.Active},
		{"a bare URI that two templates make", "tpl://7", "two1 tpl://7", catalog.Ambiguous},
		{"a bare URI that an inactive template makes", "idle://7", "off idle://7", catalog.Inactive},
		{"a bare template", "doc://{id}", "on doc://{id}", catalog.Active},
		{"an unknown bare URI", "nobody://x", "", catalog.Unknown},

		{"an inactive resource that an active template makes", "mixed_mix://secret", "mixed mix://secret", catalog.Inactive},
		{"the same without its namespace", "mix://secret", "mixed mix://secret", catalog.Inactive},
		{"another that the template makes", "mixed_mix://other", "mixed mix://other", catalog.Active},
		{"a namespaced URI of one server that is a bare URI of another", "on_doc://{id}", "on doc://{id}", catalog.Active},
	} {
		t.Run(tt.name, func(t *testing.T) { checkURI(t, v, tt.uri, tt.want, tt.verdict) })
	}

	v = v.Apply(&view.Switches{ResourcesOff: []string{"two2_same://x", "on_shared://x", "two1_tpl://{id}"}, ResourcesOn: []string{"mixed_mix://secret"}})
	checkURI(t, v, "same://x", "two1 same://x", catalog.Active) // only one is active now
	checkURI(t, v, "shared://x", "two2 shared://x", catalog.Active)
	checkURI(t, v, "tpl://7", "two2 tpl://7", catalog.Active)
	checkURI(t, v, "mixed_mix://secret", "mixed mix://secret", catalog.Active)
	checkURI(t, v, "mix://secret", "mixed mix://secret", catalog.Active)
	v = v.Apply(&view.Switches{ResourcesOff: []string{"two1_same://x"}})
	checkURI(t, v, "same://x", "two1 same://x", catalog.Inactive)
}

// Two servers may share a namespace. What one of them lists is not to be had
// through a template of the other.
func TestAnotherServersTemplateIsNoWayToAnInactiveResource(t *testing.T) {
	for _, templates := range []int{0, 1} {
		offers := []offer{{namespace: "ns", resources: []string{"r://x"}}, {namespace: "ns"}}
		offers[templates].templates = []string{"r://{id}"}
		g := newRig(t, setup{}, offers...)
		checkList(t, "active", activeNames(g.view()))
		v := g.view().Apply(&view.Switches{ResourcesOn: []string{"ns_r://{id}"}})
		checkURI(t, v, "ns_r://x", "ns r://x", catalog.Inactive)
		checkURI(t, v, "ns_r://y", g.r.all()[templates].Name+" r://y", catalog.Active)
	}
}

// What one server lists is not another's because of a template.
func TestABareURIThatIsListedGoesBeforeWhatTemplatesMake(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "a", templates: []string{"r://{id}"}}, offer{namespace: "b", resources: []string{"r://x"}})
	checkURI(t, g.view(), "r://x", "b r://x", catalog.Active)
	checkURI(t, g.view(), "r://y", "a r://y", catalog.Active)
	off := g.view().Apply(&view.Switches{ResourcesOff: []string{"b_r://x"}})
	checkURI(t, off, "r://x", "a r://x", catalog.Active)
}

// One server's resources under several names are its own business.
func TestABareURIOfOneServerIsNotAmbiguous(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "ns", templates: []string{"a://{x}", "a://{y}"}})
	checkURI(t, g.view(), "a://1", "ns a://1", catalog.Active)
}

func TestHostileTemplates(t *testing.T) {
	for _, tt := range []struct {
		name, template string
		makes, not     []string
	}{
		{"a length over what expressions can count", "a://{a:5000}", []string{"a://b", "a://" + strings.Repeat("b", 2000)}, []string{"b://a"}},
		{"lengths that multiply", "a://" + strings.Repeat("{a:999}", 16), []string{"a://b"}, []string{"b://a"}},
		{"a brace that does not close", "a://{b", []string{"a://", "a://{b", "a://anything"}, []string{"b://a"}},
		{"a brace that did not open", "a://}b", []string{"a://}b"}, []string{"b://a"}},
		{"characters of regular expressions", "a://(.*)+[x]$|\\", []string{"a://(.*)+[x]$|\\"}, []string{"a://x", "x"}},
		{"an operator that is not one", "a://{=b}", []string{"a://x"}, []string{"b://a"}},
		{"more expressions than anybody needs", "a://" + strings.Repeat("{b}", 100_000), []string{"a://x"}, []string{"b://a"}},
		{"more names than anybody needs", "a://{" + strings.Repeat("b,", 100_000) + "c}", []string{"a://x"}, []string{"b://a"}},
		{"many braces", "a://" + strings.Repeat("{", 100_000), []string{"a://x"}, []string{"b://a"}},
		{"a long text", "a://" + strings.Repeat("b", 100_000) + "{c}", []string{"a://" + strings.Repeat("b", 100_000) + "x"}, []string{"a://b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "ns", templates: []string{tt.template}})
			for _, uri := range tt.makes {
				checkURI(t, g.view(), "ns_"+uri, "ns "+uri, catalog.Active)
				checkURI(t, g.view(), uri, "ns "+uri, catalog.Active)
			}
			for _, uri := range tt.not {
				checkURI(t, g.view(), "ns_"+uri, "", catalog.Unknown)
				checkURI(t, g.view(), uri, "", catalog.Unknown)
			}
		})
	}
}

// The template itself must not be read in the place of nothing.
func TestNoTemplateMakesNothing(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "ns", templates: []string{"{+any}"}})
	checkURI(t, g.view(), "", "", catalog.Unknown)
	checkURI(t, g.view(), "ns_", "ns ns_", catalog.Active) // as a bare URI
	checkURI(t, g.view(), "ns_x", "ns x", catalog.Active)
}

// A list may have 20,000 templates, and all of them may be hostile.
func TestTheCostOfATemplateIsBounded(t *testing.T) {
	for _, hostile := range []string{
		strings.Repeat("{a}", 100_000), strings.Repeat("{a:999}", 100_000), "{" + strings.Repeat("a,", 100_000) + "a}", strings.Repeat("{a,b,c,d,e,f,g}", 60),
		strings.Repeat("b", 100_000) + "{c}", strings.Repeat("b", 100_000),
	} {
		strict := catalog.StrictPattern("a://" + hostile)
		for _, re := range []*regexp.Regexp{strict, catalog.LoosePattern("a://"+hostile, strict)} {
			if n := len(re.String()); n > 6_000 {
				t.Errorf("%.20s…: an expression of %d bytes", hostile, n)
			}
		}
	}
}

func TestFindOfToolsAndPrompts(t *testing.T) {
	g := newRig(t, setup{active: []string{"ns_on"}}, offer{namespace: "ns", tools: []string{"on", "off", "a b"}, prompts: []string{"on", "p"}})
	v := g.view()
	for _, tt := range []struct {
		kind    mcpwire.Kind
		name    string
		verdict catalog.Verdict
	}{
		{mcpwire.Tool, "ns_on", catalog.Active}, {mcpwire.Tool, "ns_off", catalog.Inactive}, {mcpwire.Tool, "on", catalog.Active}, {mcpwire.Tool, "NS_on", catalog.Unknown},
		{mcpwire.Tool, "ns_a b", catalog.Unknown}, {mcpwire.Tool, (&catalog.Source{Namespace: "ns", URISep: "_"}).Expose(mcpwire.Tool, "a b"), catalog.Inactive}, {mcpwire.Tool, "ns_p", catalog.Unknown},
		{mcpwire.Tool, "", catalog.Unknown}, {mcpwire.Prompt, "ns_on", catalog.Active}, {mcpwire.Prompt, "ns_p", catalog.Active}, {mcpwire.Prompt, "ns_off", catalog.Unknown},
	} {
		if _, got := v.Find(tt.kind, []byte(tt.name)); got != tt.verdict {
			t.Errorf("%s %q: %s, want %s", tt.kind, tt.name, got, tt.verdict)
		}
	}
}
