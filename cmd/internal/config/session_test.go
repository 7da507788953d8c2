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
	if got, err := s.SessionEnv[0].Fill(map[string]string{"A": "${session.B}", "B": ""}); err != nil || got != "${session.B}/${session.A}token-secret" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := s.SessionEnv[0].Fill(map[string]string{"A": "hidden"}); err == nil || err.Error() != "the session has no B in its ?config=, which BOTH needs" {
		t.Errorf("got %v", err)
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
