package budget

import (
	"reflect"
	"slices"
	"testing"
)

// Whatever rights derive from makes another principal, and another text.
func TestEachPartMakesAnotherPrincipal(t *testing.T) {
	seen := map[string]Principal{}
	add := func(p Principal) {
		if other, known := seen[p.String()]; known {
			t.Errorf("%+v and %+v are both %s", p, other, p)
		}
		seen[p.String()] = p
	}
	add(Principal{})
	for i := range reflect.TypeFor[Principal]().NumField() {
		for _, text := range []string{"a", "b", "a:b", "a%3Ab", ":"} {
			var p Principal
			switch f := reflect.ValueOf(&p).Elem().Field(i); {
			case f.Kind() == reflect.Bool && text == "a":
				f.SetBool(true)
			case f.Kind() == reflect.String:
				f.SetString(text)
				p.Restricted = reflect.TypeFor[Principal]().Field(i).Name == "Toolsets"
			default:
				continue
			}
			add(p)
		}
	}
	add(Principal{Issuer: "a", Subject: "b"})
	add(Principal{Subject: "a", Agent: "b"})
	if len(seen) < 30 {
		t.Errorf("only %d principals were compared", len(seen))
	}
}

// A client is the same however it asks, and shares what it has with no other credential.
func TestClient(t *testing.T) {
	jwt := Principal{Issuer: "https://login.example.com", Subject: "alice", Agent: "writer"}
	token := Principal{Issuer: Tokens, Subject: "0a1b2c", Agent: "writer"}
	for _, one := range []struct {
		p    Principal
		same bool
	}{
		{Principal{Issuer: jwt.Issuer, Subject: "alice", Agent: "writer", Path: "reading"}, true},
		{Principal{Issuer: jwt.Issuer, Subject: "alice", Agent: "writer", Restricted: true, Toolsets: "a"}, true},
		{Principal{Issuer: jwt.Issuer, Subject: "alice", Agent: "reader"}, false},
		{Principal{Issuer: jwt.Issuer, Subject: "bob", Agent: "writer"}, false},
		{Principal{Issuer: "https://other.example.com", Subject: "alice", Agent: "writer"}, false},
		{Principal{Issuer: jwt.Issuer, Subject: "alice", Agent: "writer", ClientID: "7"}, false},
		{token, false},
	} {
		if same := one.p.Client() == jwt.Client(); same != one.same {
			t.Errorf("%+v is the client of %+v: %t", one.p, jwt, same)
		}
	}
	renewed := Principal{Issuer: Tokens, Subject: "ffffff", Agent: "writer"}
	if renewed.Client() == token.Client() {
		t.Error("two tokens of an agent are the same client")
	}
	if renewed.Owner() != token.Owner() || token.Owner() == jwt.Owner() || jwt.Owner() == (Principal{}).Owner() {
		t.Errorf("the owners are %q, %q, %q and %q", renewed.Owner(), token.Owner(), jwt.Owner(), Principal{}.Owner())
	}
}

// Behind a proxy that knows its clients each is an owner of its own, also where no credential is
// needed.
func TestOwner(t *testing.T) {
	for _, tt := range []struct {
		p    Principal
		want string
	}{
		{Principal{}, ""},
		{Principal{Path: "reading", Restricted: true}, ""},
		{Principal{ClientID: "7"}, ":::7"},
		{Principal{Issuer: Tokens, Subject: "0a1b2c", Agent: "writer"}, "tokens::writer"},
		{Principal{Issuer: Tokens, Subject: "0a1b2c", Agent: "writer", ClientID: "a/b c"}, "tokens::writer:a%2Fb+c"},
		{Principal{Issuer: "https://login.example.com", Subject: "alice"}, "https%3A%2F%2Flogin.example.com:alice"},
		{Principal{Issuer: "i", Subject: "alice", Agent: "writer"}, "i:alice:writer"},
	} {
		if got := tt.p.Owner(); got != tt.want {
			t.Errorf("%+v is the owner %q, want %q", tt.p, got, tt.want)
		}
	}
}

func TestPermissionsAreASet(t *testing.T) {
	p := Principal{Restricted: true, Toolsets: Join([]string{"b", "a", "b"})}
	if got := p.Permissions(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q", got)
	}
	if got := (&Principal{Restricted: true}).Permissions(); got == nil || len(got) > 0 {
		t.Errorf("no toolsets are %q", got)
	}
}
