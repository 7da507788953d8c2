package modes

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"toolman/router/budget"
	"toolman/router/httpd/guard"
	"toolman/router/httpd/presence"
	"toolman/router/view"
)

// ask is the caller of a request to /mcp/NAME.
func ask(t *testing.T, m *Modes, id guard.Identity, name, query string) (presence.Caller, error) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/mcp"+query, nil)
	id.Path = name
	return m.Caller(r.WithContext(guard.WithIdentity(r.Context(), id)))
}

func asked(t *testing.T, m *Modes, id guard.Identity, name, query string) presence.Caller {
	t.Helper()
	c, err := ask(t, m, id, name, query)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var (
	reader   = guard.Identity{Principal: budget.Principal{Issuer: budget.Tokens, Subject: "1", Agent: "reader"}, Policy: "reader", Name: "reader"}
	nobody   = guard.Identity{Name: "anonymous", Addr: netip.MustParseAddr("127.0.0.1")}
	stranger = guard.Identity{Name: "anonymous", Addr: netip.MustParseAddr("10.1.2.3")}
)

func from(id guard.Identity, sets ...string) guard.Identity {
	id.Restricted, id.Toolsets = true, budget.Join(sets)
	return id
}

func TestWhatAClientIs(t *testing.T) {
	given := view.MetaTools{Toolsets: true}
	sets, agents := []string{"reading", "writing"}, []string{"reader", "writer"}
	plain := Options{MetaTools: given, Toolsets: sets, Agents: agents}
	static, open, byHeader, byConfig := plain, plain, plain, plain
	static.Static, open.Open = true, true
	byHeader.Permissions = &Permissions{Header: true}
	byConfig.Permissions = &Permissions{Agents: map[string][]string{"reader": {"reading"}, "claimed": {"writing"}}}
	openByConfig := byConfig
	openByConfig.Open = true
	claimed := guard.Identity{Principal: budget.Principal{Issuer: budget.Tokens, Subject: "1", Agent: "claimed"}}
	for _, tt := range []struct {
		what    string
		o       Options
		who     guard.Identity
		path    string
		agent   string
		only    []string // nil: all
		static  bool
		offered view.MetaTools
	}{
		{"dynamic", plain, reader, "", "reader", nil, false, given},
		{"static", static, reader, "", "reader", nil, true, *listTools},
		{"a toolset", plain, reader, "reading", "reader", []string{"reading"}, true, *listTools},
		{"its own agent", plain, reader, "reader", "reader", nil, false, given},
		{"an agent on this machine, without a credential", open, nobody, "writer", "writer", nil, false, given},
		{"a header that no configuration asks for limits all the same", plain, from(reader, "reading"), "", "reader", []string{"reading"}, true, *noTools},
		{"and in a path", plain, from(reader, "reading", "writing"), "reading", "reader", []string{"reading"}, true, *noTools},

		{"permissions of the header", byHeader, from(reader, "writing", "more"), "", "reader", []string{"more", "writing"}, true, *noTools},
		{"a toolset of those", byHeader, from(reader, "writing"), "writing", "reader", []string{"writing"}, true, *noTools},
		{"no header", byHeader, reader, "", "reader", []string{}, true, *noTools},
		{"an empty header, or one that is not understood", byHeader, from(reader), "", "reader", []string{}, true, *noTools},
		{"no header, as its own agent", byHeader, reader, "reader", "reader", []string{}, true, *noTools},

		{"permissions of the file", byConfig, reader, "", "reader", []string{"reading"}, true, *noTools},
		{"of an agent without a policy", byConfig, claimed, "", "", []string{"writing"}, true, *noTools},
		{"of nobody", byConfig, nobody, "", "", []string{}, true, *noTools},
		{"of the file and of the header", byConfig, from(reader, "writing", "reading"), "", "reader", []string{"reading"}, true, *noTools},
		{"of the file and not of the header", byConfig, from(reader, "writing"), "", "reader", []string{}, true, *noTools},
		{"as another agent on this machine", openByConfig, nobody, "reader", "reader", []string{"reading"}, true, *noTools},
		{"as an agent without permissions", openByConfig, nobody, "writer", "writer", []string{}, true, *noTools},
	} {
		t.Run(tt.what, func(t *testing.T) {
			c := asked(t, New(tt.o), tt.who, tt.path, "").Client
			want := tt.who.Principal
			if want.Path = tt.path; c.Principal != want {
				t.Errorf("it is %q, want %q", c.Principal, want)
			}
			if c.Agent != tt.agent || (c.Static != "") != tt.static || *c.MetaTools != tt.offered || !slices.Equal(c.Only, tt.only) || (c.Only == nil) != (tt.only == nil) {
				t.Errorf("got %+v, offered %+v", c, *c.MetaTools)
			}
			if got := New(tt.o).Offers(); got.NoActivate && !c.MetaTools.NoActivate || !(got.List || got.Toolsets) && c.MetaTools.List || !got.Toolsets && c.MetaTools.Toolsets {
				t.Errorf("it is offered %+v of %+v", *c.MetaTools, got)
			}
		})
	}
}

func TestPathsThatLeadNowhereForTheClient(t *testing.T) {
	o := Options{Toolsets: []string{"reading", "writing"}, Agents: []string{"reader", "writer"}}
	open, permitted := o, o
	open.Open = true
	permitted.Permissions = &Permissions{Agents: map[string][]string{"reader": {"reading"}}}
	for _, tt := range []struct {
		what string
		o    Options
		who  guard.Identity
		path string
		want string
	}{
		{"what nothing is called", o, reader, "wirting", "there is no /mcp/wirting for you; besides /mcp there are /mcp/NAME for reading, writing, reader"},
		{"another agent", o, reader, "writer", "there is no /mcp/writer for you; besides /mcp there are /mcp/NAME for reading, writing, reader"},
		{"an agent from elsewhere, without a credential", open, stranger, "writer", "there is no /mcp/writer for you; besides /mcp there are /mcp/NAME for reading, writing"},
		{"a toolset without permission", permitted, reader, "writing", "there is no /mcp/writing for you; besides /mcp there are /mcp/NAME for reading, reader"},
		{"any toolset without permissions", permitted, nobody, "reading", "there is no /mcp/reading for you; use /mcp"},
		{"something long and odd", Options{}, nobody, "a\x1b[2J" + strings.Repeat("x", 100), "there is no /mcp/a [2J" + strings.Repeat("x", 59) + "… for you; use /mcp"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			_, err := ask(t, New(tt.o), tt.who, tt.path, "")
			denial, ok := errors.AsType[*presence.Denial](err)
			if !ok || denial.Status != 404 || denial.Text != tt.want {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestWithoutAGuardNobodyIsServed(t *testing.T) {
	if c, err := New(Options{}).Caller(httptest.NewRequest(http.MethodPost, "/mcp", nil)); err == nil {
		t.Errorf("got %+v", c)
	}
}

// A session is found by the same ID only: with other rights, another one is begun.
func TestCallersWithOtherRightsAreOthers(t *testing.T) {
	m := New(Options{Toolsets: []string{"reading"}, Agents: []string{"reader"}, ConfigKeys: []string{"A", "B"}})
	config := func(text string) string {
		return "?config=" + base64.URLEncoding.EncodeToString([]byte(text))
	}
	other := reader
	other.Subject = "2"
	agent := reader
	agent.Agent = "writer"
	seen := map[presence.Key]string{}
	key := func(c presence.Caller) presence.Key { return c.Key() }
	for what, id := range map[string]presence.Key{
		"plain":                key(asked(t, m, reader, "", "")),
		"another agent":        key(asked(t, m, agent, "", "")),
		"another token":        key(asked(t, m, other, "", "")),
		"a toolset":            key(asked(t, m, reader, "reading", "")),
		"an agent":             key(asked(t, m, reader, "reader", "")),
		"limited":              key(asked(t, m, from(reader, "reading"), "", "")),
		"to two":               key(asked(t, m, from(reader, "reading", "a"), "", "")),
		"to none":              key(asked(t, m, from(reader), "", "")),
		"with a configuration": key(asked(t, m, reader, "", config(`{"A":"1","B":"2"}`))),
		"with another":         key(asked(t, m, reader, "", config(`{"A":"12","B":""}`))),
		"with a third":         key(asked(t, m, reader, "", config(`{"A":"2","B":"1"}`))),
		"now static":           key(asked(t, New(Options{Static: true}), reader, "", "")),
	} {
		if before := seen[id]; before != "" {
			t.Errorf("%s and %s are one: %v", what, before, id)
		}
		seen[id] = what
	}
	for what, same := range map[string][2]presence.Key{
		"the order of toolsets": {key(asked(t, m, from(reader, "a", "b"), "", "")), key(asked(t, m, from(reader, "b", "a"), "", ""))},
		"the order of keys":     {key(asked(t, m, reader, "", config(`{"A":"1","B":"2"}`))), key(asked(t, m, reader, "", config(` {"B":"2", "A":"1"} `)))},
		"an empty object":       {key(asked(t, m, reader, "", config(`{}`))), key(asked(t, m, reader, "", ""))},
	} {
		if same[0] != same[1] {
			t.Errorf("%s: %v is not %v", what, same[0], same[1])
		}
	}
	if a, b := key(asked(t, m, reader, "", config(`{"A":"1"}`))), key(asked(t, New(Options{ConfigKeys: []string{"A"}, Key: func() [32]byte { return [32]byte{1} }}), reader, "", config(`{"A":"1"}`))); a == b {
		t.Error("whoever sees an ID can try out what is in it")
	}
}

func TestRightsThatLast(t *testing.T) {
	local := nobody
	local.Path = "reader"
	behind := reader
	behind.Terms = "t1"
	named := reader
	named.Path = "a"
	changed := behind
	changed.Terms = "t2"
	config := Options{ConfigKeys: []string{"KEY"}}
	for _, tt := range []struct {
		name          string
		before, after Options
		was, is       guard.Identity
		query         string
		want          bool
	}{
		{"the same", Options{}, Options{Toolsets: []string{"a"}}, reader, reader, "", true},
		{"other terms", Options{}, Options{}, behind, changed, "", false},
		{"the same for all now", Options{}, Options{Static: true}, reader, reader, "", false},
		{"permissions", Options{}, Options{Permissions: &Permissions{}}, reader, reader, "", false},
		{"a toolset that is gone", Options{Toolsets: []string{"a"}}, Options{}, named, named, "", false},
		{"an agent on this machine", Options{Open: true, Agents: []string{"reader"}}, Options{Open: true, Agents: []string{"other", "reader"}}, local, local, "", true},
		{"an agent, where a credential is needed now", Options{Open: true, Agents: []string{"reader"}}, Options{Agents: []string{"reader"}}, local, local, "", false},
		{"what it says of itself", config, config, reader, reader, "?config=eyJLRVkiOiJ4In0", true},
		{"a key that is not taken any more", config, Options{}, reader, reader, "?config=eyJLRVkiOiJ4In0", false},
		{"what does not count any more", config, Options{Static: true, ConfigKeys: []string{"KEY"}}, reader, reader, "?config=eyJLRVkiOiJ4In0", false},
	} {
		c := asked(t, New(tt.before), tt.was, tt.was.Path, tt.query)
		is := tt.is
		is.Addr = netip.Addr{} // of a principal that is not known
		if got := New(tt.after).Lasts(&c, is); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}
