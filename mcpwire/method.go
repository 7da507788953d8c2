package mcpwire

import "slices"

// A Method is the name of a request or notification, spelled as in the specification.
type Method string

// Requests from client to server.
const (
	Initialize    Method = "initialize"
	Ping          Method = "ping" // in both directions
	ToolsList     Method = "tools/list"
	ToolsCall     Method = "tools/call"
	PromptsList   Method = "prompts/list"
	PromptsGet    Method = "prompts/get"
	ResourcesList Method = "resources/list"
	TemplatesList Method = "resources/templates/list"
	ResourcesRead Method = "resources/read"
	Subscribe     Method = "resources/subscribe"
	Unsubscribe   Method = "resources/unsubscribe"
	Complete      Method = "completion/complete"
	SetLevel      Method = "logging/setLevel"
	Discover      Method = "server/discover"      // modern only
	Listen        Method = "subscriptions/listen" // modern only
)

// Requests about tasks (2025-11-25 only), in both directions. tasks/list is not among them: its
// answer would mix the tasks of all servers.
const (
	TasksGet    Method = "tasks/get"
	TasksResult Method = "tasks/result"
	TasksCancel Method = "tasks/cancel"
)

// Requests from server to client.
const (
	CreateMessage Method = "sampling/createMessage"
	Elicit        Method = "elicitation/create"
	ListRoots     Method = "roots/list"
)

// Notifications.
const (
	Initialized          Method = "notifications/initialized"
	Cancelled            Method = "notifications/cancelled"
	Progress             Method = "notifications/progress"
	ToolsListChanged     Method = "notifications/tools/list_changed"
	PromptsListChanged   Method = "notifications/prompts/list_changed"
	ResourcesListChanged Method = "notifications/resources/list_changed"
	ResourceUpdated      Method = "notifications/resources/updated"
	RootsListChanged     Method = "notifications/roots/list_changed"
	TaskStatus           Method = "notifications/tasks/status" // in both directions
	LogMessage           Method = "notifications/message"
	ElicitationComplete  Method = "notifications/elicitation/complete"       // 2025-11-25 only
	Acknowledged         Method = "notifications/subscriptions/acknowledged" // modern only
)

// requests are the methods that a client may call: first those of the modern era, then those of
// both eras, then those of the legacy era.
var requests = [...]Method{Discover, Listen,
	ToolsCall, ToolsList, PromptsList, PromptsGet, ResourcesList, TemplatesList, ResourcesRead, Complete,
	Initialize, Ping, Subscribe, Unsubscribe, SetLevel, TasksGet, TasksResult, TasksCancel}

// Where in requests the two eras overlap.
const firstShared, firstLegacyOnly = 2, 10

// Known reports whether clients can call this method in any revision with a handshake.
func Known(m Method) bool { return slices.Contains(requests[firstShared:], m) }

// KnownModern reports whether clients can call this method in the modern era.
func KnownModern(m Method) bool { return slices.Contains(requests[:firstLegacyOnly], m) }

// MethodOf returns the method with this name. It allocates only for methods that no client calls.
func MethodOf(name []byte) Method {
	for _, m := range requests {
		if string(name) == string(m) {
			return m
		}
	}
	return Method(name)
}
