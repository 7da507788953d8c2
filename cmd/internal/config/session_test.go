package config

import (
	"strings"
	"testing"
)

func TestSessionValues(t *testing.T) {
	c, err := parse("t.toml", "/t.toml", []byte(`
[[servers]]
namespace = "a"
command = "server"
env = { BOTH = "${session.A}/${session.B}$${session.A}${TOKEN}", PLAIN = "$${session.A}" }
[http]
session_config_keys = ["A", "B"]`), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	s := c.Servers[0]
	if len(s.SessionEnv) != 1 || len(s.Env) != 1 || s.Env[0] != "PLAIN=${session.A}" || !s.ForEachSession() {
		t.Fatalf("got %+v", s)
	}
	if got, err := s.In(map[string]string{"A": "${session.B}", "B": ""}); err != nil || got.Env[0] != "BOTH=${session.B}/${session.A}token-secret" {
		t.Errorf("got %q, %v", got.Env, err)
	}
	if _, err := s.In(map[string]string{"A": "hidden"}); err == nil || err.Error() != "the session has no B in its ?config=, which BOTH needs" {
		t.Errorf("got %v", err)
	}
	if got, err := s.In(map[string]string{"A": "1", "B": "2"}); err != nil || strings.Join(got.Env, " ") != "BOTH=1/2${session.A}token-secret PLAIN=${session.A}" || got.ForEachSession() || !s.ForEachSession() {
		t.Errorf("got %q, %v", got.Env, err)
	}
	for _, secret := range c.Secrets {
		if strings.Contains(secret, "session.") && secret != "${session.A}" {
			t.Errorf("%q is taken for a secret", secret)
		}
	}
}

func TestPermissionsOfTheHeader(t *testing.T) {
	c, err := parse("t.toml", "/t.toml", []byte("[http]\ntrusted_proxies = ['::1']\npermissions = { source = 'header' }"), testOptions())
	if err != nil || c.HTTP.Permissions == nil || !c.HTTP.Permissions.Header || len(c.HTTP.Permissions.Agents) > 0 {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestPermissionsOfOneAgentAreNobodyElses(t *testing.T) {
	o := testOptions()
	o.Agent = "b"
	text := "[agent_policies.a]\nallowed_servers=['*']\n[agent_policies.b]\nallowed_servers=['*']\n[toolsets.s]\ntools=['*']\n[http.permissions]\nagents={ a=['s'] }"
	c, err := parse("t.toml", "/t.toml", []byte(text), o)
	if err != nil {
		t.Fatal(err)
	}
	if sets, ok := c.HTTP.Permissions.Agents["b"]; !ok || len(sets) > 0 || len(c.HTTP.Permissions.Agents) != 1 {
		t.Errorf("got %v", c.HTTP.Permissions.Agents)
	}
}

func TestHeadersOfASession(t *testing.T) {
	c, err := parse("t.toml", "/t.toml", []byte(`
[[servers]]
namespace = "a"
url = "https://mcp.example.com/mcp"
headers = { Authorization = "Bearer ${session.A}", X-Fixed = "x" }
[http]
session_config_keys = ["A"]`), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	s := c.Servers[0]
	one, err := s.In(map[string]string{"A": "one"})
	two, _ := s.In(map[string]string{"A": "two"})
	if err != nil || one.Remote.Header.Get("Authorization") != "Bearer one" || two.Remote.Header.Get("Authorization") != "Bearer two" || one.Remote.Header.Get("X-Fixed") != "x" {
		t.Errorf("got %v and %v, %v", one.Remote, two.Remote, err)
	}
	if _, err := s.In(nil); err == nil || !strings.Contains(err.Error(), "no A in") {
		t.Errorf("got %v", err)
	}
	if len(s.Remote.Header) != 1 || !s.ForEachSession() {
		t.Errorf("the server itself has changed: %v", s.Remote)
	}
}
