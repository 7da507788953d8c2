// Package hook runs the operator's commands when something happens to a toolset: when it is
// equipped, and when a tool of a saved one has drifted, which means that it is not what was saved.
//
// A command gets the event as one line of JSON on its standard input. Nothing of an event is part
// of the command or of its environment, so no name can change what is run. What the command prints
// is logged.
//
// Nobody waits for a command. One runs at a time, in the order of the events, for a limited time. A
// limited number of events can wait; others are dropped, and the log says how many. When a command
// has ended, or its time is over, what is left of its process group is killed.
package hook
