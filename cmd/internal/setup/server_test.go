package setup

import (
	"testing"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/reference"
)

// A server is started again for its own keys alone, not for variables that others refer to.
func TestAServerIsAnotherWhenItsOwnKeysAre(t *testing.T) {
	s := config.Server{Namespace: "a", Argv: []string{"a"}, Referred: reference.Variables{"KEY": true}, Line: 1}
	same, inheriting := s, s
	same.Referred, same.Line = reference.Variables{"OTHER": true}, 2
	inheriting.InheritEnv = []string{}
	if fingerprint(s) != fingerprint(same) {
		t.Error("a server is another because of what others refer to")
	}
	if fingerprint(s) == fingerprint(inheriting) {
		t.Error("a server that inherits nothing is as the one that inherits everything")
	}
}
