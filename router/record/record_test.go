package record

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"toolman/router/toolset"
	"toolman/router/view"
)

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	for name, r := range map[string]Record{
		"nothing": {},
		"all": {
			Initialize: json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"\ud800"}}`), Ready: true,
			Level: json.RawMessage(`{"level":"debug"}`),
			Activations: &Activations{Tools: map[string]bool{"a": true, "b": false}, Resources: map[string]bool{"x://y": true},
				Toolsets: &Toolsets{Enabled: []string{"one"}, Disabled: []string{"two"}, Equipped: "three", Before: &Activations{Tools: map[string]bool{"c": true}, Toolsets: &Toolsets{Enabled: []string{"four"}}}}},
			Subscriptions: []string{"x://y", ""}, Servers: []string{"s", "t"}, Pages: []string{"p"},
		},
	} {
		text := r.Append([]byte("before"))
		got, ok := Read(bytes.TrimPrefix(text, []byte("before")))
		if r.Version = Version; !ok || !reflect.DeepEqual(*got, r) {
			t.Errorf("%s: %s is read as %+v, %t", name, text, got, ok)
		}
	}
	for _, text := range []string{``, `{}`, `{"v":0}`, `{"v":2}`, `{"v":1`, `[]`, `{"v":1,"servers":5}`} {
		if r, ok := Read([]byte(text)); ok {
			t.Errorf("%s is read as %+v", text, r)
		}
	}
}

func TestActivationsAreMadeAgainFromNames(t *testing.T) {
	one, two, three := &toolset.Set{Name: "one"}, &toolset.Set{Name: "two"}, &toolset.Set{Name: "three"}
	find := func(name string) *toolset.Set {
		i := slices.IndexFunc([]*toolset.Set{one, two, three}, func(s *toolset.Set) bool { return s.Name == name })
		if i < 0 {
			return nil
		}
		return []*toolset.Set{one, two, three}[i]
	}
	on := map[string]bool{"a": true, "b": false}
	for name, a := range map[string]view.Activations{
		"nothing":           {},
		"tools":             {Tools: on},
		"resources":         {Resources: on},
		"no toolset":        {Toolsets: &view.Toolsets{}},
		"toolsets":          {Tools: on, Toolsets: &view.Toolsets{Enabled: []*toolset.Set{one, two}, Disabled: []string{"three", "gone"}}},
		"equipped at start": {Toolsets: &view.Toolsets{Equipped: three}},
		"equipped later":    {Toolsets: &view.Toolsets{Equipped: three, Before: &view.Activations{}}},
		"equipped, with what was before": {Toolsets: &view.Toolsets{Equipped: three,
			Before: &view.Activations{Tools: on, Toolsets: &view.Toolsets{Enabled: []*toolset.Set{one}, Equipped: two}}}},
	} {
		r := Record{Activations: Of(a)}
		read, ok := Read(r.Append(nil))
		if got := read.Activations.Activations(find); !ok || !reflect.DeepEqual(got, a) {
			t.Errorf("%s: %s is %+v, want %+v", name, r.Append(nil), got, a)
		}
	}
	lost := &Activations{Toolsets: &Toolsets{Enabled: []string{"gone", "two"}, Equipped: "gone"}}
	if got := lost.Activations(find).Toolsets; !reflect.DeepEqual(got, &view.Toolsets{Enabled: []*toolset.Set{two}}) {
		t.Errorf("toolsets that are gone are %+v", got)
	}
}

func TestAServerThatWasLostIsToldOnce(t *testing.T) {
	var nobody *Tracker
	nobody.Changed()
	nobody.Use("x")
	if nobody.Changes() != 0 || nobody.Used() != nil || nobody.TakeLost("x") {
		t.Error("a nil Tracker notes something")
	}
	r := &Tracker{}
	before := r.Changes()
	r.Use("b")
	r.Use("a")
	changed := r.Changes()
	if r.Use("b"); changed == before || r.Changes() != changed {
		t.Errorf("changes: %d, then %d, then %d", before, changed, r.Changes())
	}
	if r.TakeLost("a") {
		t.Error("a server is lost that this process has started")
	}
	r.Lose([]string{"a", "c"})
	for _, name := range []string{"a", "c"} {
		if !r.TakeLost(name) || r.TakeLost(name) {
			t.Errorf("%s is not told once", name)
		}
	}
	if got := r.Used(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("used are %q", got)
	}
}
