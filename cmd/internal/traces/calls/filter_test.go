package calls_test

import (
	"strings"
	"testing"

	"toolman/cmd/internal/traces/calls"
	"toolman/jsonrpc/trace"
)

// The calls of this trace differ in what their frames are, and in what was done to them.
const traits = `{"v":1,"seq":0,"t":"session","us":0,"run":"k3f9q"}
{"v":1,"seq":1,"t":"event","us":1,"event":"held","hold":1,"leg":"client","peer":"ide","kind":"request","id":1}
{"v":1,"seq":2,"t":"event","us":2,"event":"released","done":"edited","leg":"client","peer":"ide","kind":"request","id":1,"msg":{}}
{"v":1,"seq":3,"t":"frame","us":3,"leg":"client","peer":"ide","dir":"in","kind":"request","method":"tools/call","id":1,"call":"c1","bytes":9,"msg":{}}
{"v":1,"seq":4,"t":"frame","us":4,"leg":"upstream","peer":"fs","dir":"out","kind":"request","method":"tools/call","id":77,"call":"c1","rewrote":["id"],"bytes":9,"msg":{}}
{"v":1,"seq":5,"t":"frame","us":5,"leg":"client","peer":"ide","dir":"in","kind":"request","method":"tools/call","id":2,"call":"c2","bytes":9,"redacted":["msg.x"],"msg":{}}
{"v":1,"seq":6,"t":"frame","us":6,"leg":"client","peer":"ide","dir":"out","kind":"response","method":"tools/call","id":2,"call":"c2","status":"tool_error","verdict":"denied","bytes":2000,"msg":{}}
`

func TestCallsHaveTheTraitsOfTheirFrames(t *testing.T) {
	for filter, want := range map[string]string{
		"is:held": "c1", "is:fault": "", "is:edited": "c1", "is:rewritten": "c1", "is:redacted": "c2", "is:refused": "c2",
		"leg:upstream": "c1", "leg:client": "c2 c1", "kind:response": "c2", "kind:call": "c2 c1", "kind:event": "", "dir:out": "c2 c1",
		"id:77": "c1", "id:1": "c1", "run:k3": "c2 c1", "run:other": "", "size:>1KB": "c2", "event:held": "",
	} {
		f, err := calls.ParseFilter([]string{filter})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		a := calls.NewAssembler(f, false, func(c *calls.Call) { got = append(got, c.Call) })
		for r, err := range trace.Read(strings.NewReader(traits)) {
			if err != nil {
				t.Fatal(err)
			}
			a.Take(r)
		}
		a.EndAll()
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", filter, got, want)
		}
	}
}
