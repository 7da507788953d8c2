package router

import (
	"fmt"
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/session"
	"toolman/router/subscribe"
)

const (
	taskCall    = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s_x","task":{},"_meta":{"progressToken":"p"}}}`
	taskStatus  = `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":%q,"status":"working","x":1.0}}`
	taskRequest = `{"jsonrpc":"2.0","id":%s,"method":"tasks/%s","params":{"taskId":%q,"x":1.0}}`
)

// begins has a server make a task for a call, and returns the call's id there.
func begins(g *rig, server *link, task string) string {
	g.t.Helper()
	g.client.says(fmt.Sprintf(taskCall, server.u.Namespace))
	id := idOf(g.t, server.hearsOne())
	server.says(`{"jsonrpc":"2.0","id":` + id + `,"result":{"task":{"taskId":"` + task + `"}}}`)
	g.client.wants(`{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"` + task + `"}}}`)
	return id
}

func withTasks(t *testing.T) *rig {
	return newRig(t, setup{active: []string{"*"}}, offer{namespace: "a", tools: []string{"x"}}, offer{namespace: "b", tools: []string{"x"}})
}

func TestTasksBelongToTheServerThatMadeThem(t *testing.T) {
	g := withTasks(t)
	begins(g, g.servers[0], "ta")
	begins(g, g.servers[1], "tb")
	for i, task := range []string{"ta", "tb"} {
		for _, what := range []string{"get", "result", "cancel"} {
			g.client.says(fmt.Sprintf(taskRequest, `"q"`, what, task))
			frame := g.servers[i].hearsOne()
			id := idOf(t, frame)
			if want := fmt.Sprintf(taskRequest, id, what, task); frame != want {
				t.Errorf("got %s, want %s", frame, want)
			}
			g.servers[i].says(`{"jsonrpc":"2.0","id":` + id + `,"result":{"y":1.0}}`)
			g.client.wants(`{"jsonrpc":"2.0","id":"q","result":{"y":1.0}}`)
			g.quiet()
		}
		status := fmt.Sprintf(taskStatus, task)
		g.servers[i].says(status)
		g.client.wants(status)
		g.servers[1-i].says(status) // not its task
		g.quiet()
	}
}

func TestAProgressTokenLivesAsLongAsItsTask(t *testing.T) {
	g := withTasks(t)
	id := begins(g, g.servers[0], "ta")
	g.servers[0].says(fmt.Sprintf(progressFrame, id))
	g.client.wants(fmt.Sprintf(progressFrame, `"p"`))
	g.servers[1].says(fmt.Sprintf(progressFrame, id))
	g.quiet()
}

// The status of a task may come before the answer that names the task.
func TestAnEarlyStatusPasses(t *testing.T) {
	g := withTasks(t)
	g.client.says(fmt.Sprintf(taskCall, "a"))
	id := idOf(t, g.servers[0].hearsOne())
	status := fmt.Sprintf(taskStatus, "ta")
	g.servers[0].says(status)
	g.client.wants(status)
	g.servers[0].says(`{"jsonrpc":"2.0","id":` + id + `,"result":{"task":{"taskId":"ta"}}}`)
	g.client.hears()
	g.client.says(fmt.Sprintf(taskRequest, "2", "get", "ta"))
	g.servers[0].hearsOne()
}

// A server must not take what others need, nor another's tasks.
func TestAServerCannotTakeTasksByTalkingOfThem(t *testing.T) {
	g := withTasks(t)
	for i := range subscribe.MaxTasks + 1 {
		g.servers[1].says(fmt.Sprintf(taskStatus, fmt.Sprint(i)))
	}
	g.servers[1].says(fmt.Sprintf(taskStatus, "ta"))
	g.client.hears()
	begins(g, g.servers[0], "ta")
	g.client.says(fmt.Sprintf(taskRequest, "2", "result", "ta"))
	if frame := g.servers[0].hearsOne(); !strings.Contains(frame, "tasks/result") {
		t.Errorf("got %s", frame)
	}
	g.quiet()
}

func TestTheFirstServerToUseATaskIDHasIt(t *testing.T) {
	g := withTasks(t)
	begins(g, g.servers[0], "same")
	begins(g, g.servers[1], "same")
	g.client.says(fmt.Sprintf(taskRequest, "2", "get", "same"))
	g.servers[0].hearsOne()
	g.quiet()
}

func TestACallThatDidNotAskForATaskMakesNone(t *testing.T) {
	g := withTasks(t)
	g.client.says(callFrame("1", "a_x", "{}"))
	g.servers[0].says(`{"jsonrpc":"2.0","id":` + idOf(t, g.servers[0].hearsOne()) + `,"result":{"task":{"taskId":"ta"}}}`)
	g.client.hears()
	refused := g.client.asks(fmt.Sprintf(taskRequest, "2", "get", "ta"))
	if got := refusalOf(t, refused, mcpwire.TasksGet, -32602); !strings.HasPrefix(got, "unknown task ta; ") {
		t.Errorf("says %q", got)
	}
}

// Tasks are not refused when there have been many; the oldest are forgotten.
func TestOnlyTheNewestTasksAreRemembered(t *testing.T) {
	g := withTasks(t)
	server, first := g.servers[0], ""
	for i := range subscribe.MaxTasks + 1 {
		if id := begins(g, server, fmt.Sprint(i)); i == 0 {
			first = id
		}
	}
	g.client.says(fmt.Sprintf(taskRequest, "2", "get", "0"))
	if got := refusalOf(t, g.client.hearsOne(), mcpwire.TasksGet, -32602); !strings.HasPrefix(got, "unknown task 0; ") {
		t.Errorf("says %q", got)
	}
	server.says(fmt.Sprintf(progressFrame, first))
	g.quiet()
	for _, i := range []int{1, subscribe.MaxTasks / 2, subscribe.MaxTasks} {
		g.client.says(fmt.Sprintf(taskRequest, "2", "get", fmt.Sprint(i)))
		server.hearsOne()
	}
	id := begins(g, server, "more")
	server.says(fmt.Sprintf(progressFrame, id))
	g.client.wants(fmt.Sprintf(progressFrame, `"p"`))
	if n := session.Simulate(g.s).Held().Tasks; n != 2*subscribe.MaxTasks {
		t.Errorf("%d are remembered, want %d", n, 2*subscribe.MaxTasks)
	}
}

func TestTasksOfTheClient(t *testing.T) {
	g := withTasks(t)
	server, other := g.servers[0], g.servers[1]
	server.says(`{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"task":{}}}`)
	asked := idOf(t, g.client.hearsOne())
	g.client.says(`{"jsonrpc":"2.0","id":` + asked + `,"result":{"task":{"taskId":"c"}}}`)
	server.wants(`{"jsonrpc":"2.0","id":"q","result":{"task":{"taskId":"c"}}}`)

	server.says(fmt.Sprintf(taskRequest, `"get"`, "get", "c"))
	asked = idOf(t, g.client.hearsOne())
	g.client.says(`{"jsonrpc":"2.0","id":` + asked + `,"result":{}}`)
	server.wants(`{"jsonrpc":"2.0","id":"get","result":{}}`)

	other.says(fmt.Sprintf(taskRequest, "1", "cancel", "c"))
	if got := codeOf(t, other.hearsOne()); got != -32602 {
		t.Errorf("another server's request: code %d", got)
	}
	g.client.says(fmt.Sprintf(taskStatus, "c"), fmt.Sprintf(taskStatus, "unknown"))
	server.wants(fmt.Sprintf(taskStatus, "c"))
	g.quiet()
}
