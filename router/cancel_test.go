package router

import (
	"fmt"
	"testing"
)

const cancelFrame = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"why \u0061","requestId":%s,"_meta":{"x":1.0}}}`

func TestACancellationReachesTheServerThatHasTheCall(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "other", tools: []string{"echo"}}, various())
	other, server := g.servers[0], g.servers[1]
	g.client.says(callFrame("1", "other_echo", "{}"))
	kept := idOf(t, other.hearsOne())
	id := open(g.client, server, `"a\u0031"`)
	stays := open(g.client, server, `"a1"`)

	g.client.says(fmt.Sprintf(cancelFrame, `"a\u0031"`))
	server.wants(fmt.Sprintf(cancelFrame, id))
	g.quiet()
	server.says(`{"jsonrpc":"2.0","id":` + id + `,"result":"late"}`)
	g.client.says(fmt.Sprintf(cancelFrame, `"a\u0031"`)) // once is enough
	g.quiet()

	server.says(`{"jsonrpc":"2.0","id":` + stays + `,"result":"in time"}`)
	other.says(`{"jsonrpc":"2.0","id":` + kept + `,"result":"too"}`)
	g.client.wants(`{"jsonrpc":"2.0","id":"a1","result":"in time"}`, `{"jsonrpc":"2.0","id":1,"result":"too"}`)
}

func TestCancellationsOfNothingAreIgnored(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, various())
	id := open(g.client, g.servers[0], "1")
	for _, params := range []string{`{"requestId":2}`, `{"requestId":"1"}`, `{"requestId":1.0}`, `{"requestId":` + id + `}`, `{"requestId":null}`, `{"requestId":[1]}`,
		`{}`, `[1]`, `{"requestId":1,"requestId":1}`, `{"RequestId":1}`, `{"requestId":"init"}`} {
		g.client.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":` + params + `}`)
		g.servers[0].says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":` + params + `}`)
	}
	g.client.says(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
	g.quiet()
	g.servers[0].says(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	g.client.wants(`{"jsonrpc":"2.0","id":1,"result":{}}`)
}

// Of calls with one id, one is cancelled and the others are answered.
func TestACancellationOfAnIDInUseTwiceEndsOneCall(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, various())
	ids := []string{open(g.client, g.servers[0], "1"), open(g.client, g.servers[0], "1")}
	g.client.says(fmt.Sprintf(cancelFrame, "1"))
	cancelled := g.servers[0].hearsOne()
	for _, id := range ids {
		g.servers[0].says(`{"jsonrpc":"2.0","id":` + id + `,"result":` + id + `}`)
		if cancelled == fmt.Sprintf(cancelFrame, id) {
			g.client.wants()
		} else {
			g.client.wants(`{"jsonrpc":"2.0","id":1,"result":` + id + `}`)
		}
	}
}

func TestAParkedRequestCanBeCancelled(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "ns", tools: []string{"echo"}, starting: true})
	g.client.says(fmt.Sprintf(echo, "1", "{}"), fmt.Sprintf(echo, "2", "{}"), `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`,
		fmt.Sprintf(cancelFrame, "1"), fmt.Sprintf(cancelFrame, "3"), fmt.Sprintf(cancelFrame, "1"))
	g.servers[0].ready()
	if got := g.servers[0].hears(); len(got) != 1 {
		t.Errorf("%d calls were passed on: %q", len(got), got)
	}
	g.client.wants()
}

const progressFrame = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":0.50,"progressToken":%s,"message":"\u0061"}}`

func TestProgressGoesToWhoeverAskedForIt(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, various(), offer{namespace: "other", tools: []string{"x"}})
	server := g.servers[0]
	for _, token := range []string{`0`, `"t\u0031"`, `"t1"`, `1.50`, `-1`, `""`} {
		g.client.says(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ns_echo","_meta":{"progressToken":` + token + `}}}`)
		id := idOf(t, server.hearsOne())
		progress := fmt.Sprintf(progressFrame, id)
		server.says(progress, progress)
		want := fmt.Sprintf(progressFrame, token)
		g.client.wants(want, want)
		g.servers[1].says(progress) // not its call
		g.quiet()
		server.says(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
		g.client.hears()
		server.says(progress) // strict clients end the connection over this
		g.quiet()
	}
}

func TestProgressNobodyAskedForIsDropped(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, various())
	client, server := g.client, g.servers[0]
	untold := open(client, server, "1")
	client.says(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ns_echo","_meta":{"progressToken":7}}}`)
	told := idOf(t, server.hearsOne())
	for _, token := range []string{untold, `"` + told + `"`, told + `.0`, `7`, `null`, `{}`, `"x"`, `0`} {
		server.says(fmt.Sprintf(progressFrame, token))
	}
	server.says(`{"jsonrpc":"2.0","method":"notifications/progress"}`, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+told+`,"progressToken":`+told+`}}`)
	g.quiet()
	client.says(fmt.Sprintf(cancelFrame, "2"))
	server.hears()
	server.says(fmt.Sprintf(progressFrame, told))
	g.quiet()
}

// What the client does for a server has progress and can be cancelled, too.
func TestProgressAndCancellationOfWhatAServerAsks(t *testing.T) {
	g := newRig(t, setup{}, offer{namespace: "a"}, offer{namespace: "b"})
	server, other := g.servers[0], g.servers[1]
	const ask = `{"jsonrpc":"2.0","id":%s,"method":"sampling/createMessage","params":{"_meta":{"progressToken":%s},"x":1.0}}`
	server.says(fmt.Sprintf(ask, `"q\u0031"`, `"t"`))
	asked := g.client.hearsOne()
	id := idOf(t, asked)
	if want := fmt.Sprintf(ask, id, id); asked != want {
		t.Errorf("got %s, want %s", asked, want)
	}
	g.client.says(fmt.Sprintf(progressFrame, id), fmt.Sprintf(progressFrame, `"`+id+`"`), fmt.Sprintf(progressFrame, `1`))
	server.wants(fmt.Sprintf(progressFrame, `"t"`))

	other.says(fmt.Sprintf(cancelFrame, `"q\u0031"`), fmt.Sprintf(cancelFrame, id))
	server.says(fmt.Sprintf(cancelFrame, `"q1"`), fmt.Sprintf(cancelFrame, id))
	g.quiet()
	server.says(fmt.Sprintf(cancelFrame, `"q\u0031"`))
	g.client.wants(fmt.Sprintf(cancelFrame, id))
	server.says(fmt.Sprintf(cancelFrame, `"q\u0031"`))
	g.client.says(`{"jsonrpc":"2.0","id":`+id+`,"result":{}}`, fmt.Sprintf(progressFrame, id))
	g.quiet()
}

func TestWhatAServerAsksWithoutATokenHasNoProgress(t *testing.T) {
	_, client, server := one(t, offer{namespace: "a"})
	server.says(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	id := idOf(t, client.hearsOne())
	client.says(fmt.Sprintf(progressFrame, id))
	server.wants()
}

func TestBothDirectionsNumberTheirRequestsApart(t *testing.T) {
	_, client, server := one(t, various())
	id := open(client, server, "1")
	server.says(`{"jsonrpc":"2.0","id":` + id + `,"method":"roots/list"}`) // the id of our own request
	asked := idOf(t, client.hearsOne())
	client.says(`{"jsonrpc":"2.0","id":` + asked + `,"result":{"roots":[]}}`)
	server.wants(`{"jsonrpc":"2.0","id":` + id + `,"result":{"roots":[]}}`)
	server.says(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	client.wants(`{"jsonrpc":"2.0","id":1,"result":{}}`)
}
