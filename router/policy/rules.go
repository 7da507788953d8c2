package policy

// Rules are the policies of a configuration file. A nil *Rules allows everything.
type Rules struct {
	File    string           // for messages
	Exposed map[string]List  // exposed_tools, by server
	Agents  map[string]Agent // agent_policies
	Default Flag             // default_policy.allow_unknown_tools
}

// An Agent is one of agent_policies.
type Agent struct {
	Servers   List            // allowed_servers
	ReadOnly  Flag            // read_only
	Overrides map[string]List // tool_overrides, by server
}

// A List holds names and globs.
type List struct {
	Line    int // of its key
	Entries []Entry
}

// An Entry is one name or glob of a list.
type Entry struct {
	Text string
	Line int
}

// A Flag is a boolean of the file. Its line is 0 when the file does not have it.
type Flag struct {
	On   bool
	Line int
}
