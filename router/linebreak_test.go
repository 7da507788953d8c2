package router

import (
	"strings"
	"testing"
)

// A message with a line break in it must not have come this far: a Peer refuses to write it. The
// call that it belongs to is answered all the same, and only that one.
func TestACallThatCannotBeWrittenFails(t *testing.T) {
	_, client, server := one(t, various())
	got := client.asks("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"ns_echo\",\"arguments\":{\"a\":\n1}}}")
	if !strings.Contains(got, `"id":1,`) || !strings.Contains(got, "was not passed on to server ns: the message has a raw line break") {
		t.Errorf("the client got %s", got)
	}
	server.wants()
	client.says(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ns_echo"}}`)
	id := idOf(t, server.hearsOne())
	got = answerWith(server, client, `{"jsonrpc":"2.0","id":`+id+",\"result\":{\"content\":\r[]}}")
	if !strings.Contains(got, `"id":2,`) || !strings.Contains(got, "answer of server ns could not be passed on") {
		t.Errorf("the client got %s", got)
	}
	client.says(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ns_echo"}}`)
	if got = answerWith(server, client, `{"jsonrpc":"2.0","id":`+idOf(t, server.hearsOne())+`,"result":{}}`); got != `{"jsonrpc":"2.0","id":3,"result":{}}` {
		t.Errorf("the client got %s", got)
	}
}

// The same holds for what servers ask of clients, in both eras.
func TestAnAnswerToAServerThatCannotBeWrittenIsAnError(t *testing.T) {
	_, client, server := one(t, various())
	server.says(`{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{}}`)
	id := idOf(t, client.hearsOne())
	client.says(`{"jsonrpc":"2.0","id":` + id + ",\"result\":{\"a\":\n1}}")
	if got := server.hearsOne(); !strings.Contains(got, `"id":"q","error":`) || !strings.Contains(got, "raw line break") {
		t.Errorf("the server got %s", got)
	}
	server.says("{\"jsonrpc\":\"2.0\",\"id\":\"r\",\"method\":\"sampling/createMessage\",\"params\":{\"a\":\n1}}")
	if got := server.hearsOne(); !strings.Contains(got, `"id":"r","error":`) {
		t.Errorf("the server got %s", got)
	}
	client.wants()

	d := newDialog(t)
	d.call("1")
	state := d.asked("1", `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"m"}}`, "0", `{"method":"elicitation/create","params":{"message":"Server ns asks: m"}}`)
	d.retry("2", state, "{\"0\":{\"action\":\n\"accept\"}}")
	if got := d.server.hearsOne(); got != `{"jsonrpc":"2.0","id":"q","result":{"action":"cancel"}}` {
		t.Errorf("the server got %s", got)
	}
}

// answerWith has a server say something, and returns what the client hears of it.
func answerWith(server, client *link, frame string) string {
	server.says(frame)
	return client.hearsOne()
}
