package router

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/jsonrpc/trace"
)

// traced plays what do does with a rig that is traced, and returns one line a
// frame: where, which way, the correlation, and what is said of it.
func traced(t *testing.T, o offer, do func(g *rig)) []string {
	t.Helper()
	var out bytes.Buffer
	var lines []string
	synctest.Test(t, func(t *testing.T) {
		w := trace.NewWriter(&out, trace.Options{})
		g := newRig(t, setup{active: []string{"*"}, trace: w}, o)
		do(g)
		synctest.Wait()
		if err := w.Close(time.Second); err != nil {
			t.Fatal(err)
		}
	})
	calls := map[string]string{"": "-"}
	for r, err := range trace.Read(&out) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Type != trace.TypeFrame || r.Method == "initialize" || r.Method == "notifications/initialized" {
			continue
		}
		if calls[r.Call] == "" {
			calls[r.Call] = fmt.Sprintf("c%d", len(calls))
		}
		fields := []string{string(r.Leg), string(r.Dir), calls[r.Call], r.Method, r.Name, r.Verdict, r.Status, ms(r.LegUS), ms(r.TotalUS), strings.Join(r.Rewrote, "+")}
		for i := range fields {
			fields[i] = cmp.Or(fields[i], "-")
		}
		lines = append(lines, strings.Join(fields, " "))
	}
	return lines
}

// ms shows microseconds as milliseconds, and nothing as "".
func ms(us int64) string {
	if us == 0 {
		return ""
	}
	return fmt.Sprintf("%dms", us/1000)
}

func TestTraceOfACall(t *testing.T) {
	lines := traced(t, various(), func(g *rig) {
		g.client.says(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ns_echo","_meta":{"progressToken":1}}}`)
		id := idOf(t, g.servers[0].hearsOne())
		time.Sleep(20 * time.Millisecond)
		g.servers[0].says(`{"jsonrpc":"2.0","id":` + id + `,"result":{"isError":true}}`)
		g.servers[0].says(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
		g.client.says(callFrame("2", "nothing", "{}"))
	})
	checkList(t, "trace", lines,
		"client in c1 tools/call ns_echo - - - - -",
		"upstream out c1 tools/call echo - - - - params.name+id+params._meta.progressToken",
		"upstream in c1 tools/call echo - tool_error 20ms - -",
		"client out c1 tools/call ns_echo - tool_error 20ms 20ms id",
		"upstream in - - - - orphan - - -",
		"client in c2 tools/call nothing - - - - -",
		"client out c2 tools/call nothing unknown tool_error - - -",
	)
}

// A request that waits for the servers is traced when it comes, and once.
func TestTraceOfARequestThatWaits(t *testing.T) {
	o := various()
	o.starting = true
	lines := traced(t, o, func(g *rig) {
		g.client.says(fmt.Sprintf(echo, "1", "{}"))
		time.Sleep(20 * time.Millisecond)
		g.client.says(`{"jsonrpc":"2.0","id":2,"method":"prompts/list"}`)
		g.servers[0].ready()
		time.Sleep(5 * time.Millisecond)
		g.servers[0].says(`{"jsonrpc":"2.0","id":` + idOf(t, g.servers[0].hearsOne()) + `,"result":{}}`)
	})
	checkList(t, "trace", lines,
		"client in c1 tools/call ns_echo - - - - -",
		"client in c2 prompts/list - - - - - -",
		"upstream out c1 tools/call echo - - - - params.name+id",
		"client out c2 prompts/list - - local - - id",
		"upstream in c1 tools/call echo - ok 5ms - -",
		"client out c1 tools/call ns_echo - ok 5ms 25ms id",
	)
}

// A cancellation belongs to the call that it is about, wherever that is.
func TestTraceOfCancellations(t *testing.T) {
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`
	o := various()
	o.starting = true
	lines := traced(t, o, func(g *rig) {
		g.r.sessionEnv.Builtin.Settle = time.Minute
		g.client.says(fmt.Sprintf(echo, "1", "{}"), fmt.Sprintf(cancel, "1"))
		g.servers[0].ready()
		g.client.says(fmt.Sprintf(echo, "2", "{}"), fmt.Sprintf(cancel, "2"))
		g.client.says(activation{toolsOff: []string{"ns_echo"}}.frame("3"), fmt.Sprintf(cancel, "3"), fmt.Sprintf(cancel, "4"), fmt.Sprintf(cancel, "[]"))
	})
	checkList(t, "trace", lines,
		"client in c1 tools/call ns_echo - - - - -",
		"client in c1 notifications/cancelled - - - - - -",
		"client in c2 tools/call ns_echo - - - - -",
		"upstream out c2 tools/call echo - - - - params.name+id",
		"client in c2 notifications/cancelled - - - - - -",
		"upstream out c2 notifications/cancelled - - - - - params.requestId",
		"client in c3 tools/call toolman_activate - - - - -",
		"client out - notifications/tools/list_changed - - - - - -",
		"client in c3 notifications/cancelled - - - - - -",
		"client in - notifications/cancelled - - - - - -",
		"client in - notifications/cancelled - - - - - -",
	)
}

func TestTraceOfWhatAServerAsks(t *testing.T) {
	lines := traced(t, offer{namespace: "ns"}, func(g *rig) {
		g.servers[0].says(`{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{"_meta":{"progressToken":1}}}`)
		id := idOf(t, g.client.hearsOne())
		time.Sleep(20 * time.Millisecond)
		g.client.says(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-1,"message":"no"}}`)
	})
	checkList(t, "trace", lines,
		"upstream in c1 roots/list - - - - - -",
		"client out c1 roots/list - - - - - id+params._meta.progressToken",
		"client in c1 roots/list - - rpc_error 20ms - -",
		"upstream out c1 roots/list - - rpc_error 20ms 20ms id",
	)
}
