// Package compare says how two sessions of traces differ. It is the command `toolman trace diff`,
// and compares the responses of a replay.
//
// # Alignment
//
// Sessions aligns the calls of two sessions in three steps: calls with the same method, name and
// canonical arguments (RFC 8785) in the same order, as a diff of lines does; the same calls at
// another place; and then calls of the same method and name with other arguments. Calls of the
// server, such as elicitation/create, are aligned too. A call is moved if it ended before another
// one began in one session, and began after the other had ended in the other.
//
// # Result
//
// A Result is what `toolman trace diff --json` and GET /diff of the page return. Its Pairs are in
// the order of B, with calls that only A has at their place. "seq" is the line of the trace that
// has the request. Paths begin with params, result or error: params.arguments.path,
// result.tools[name=x]. Elements of lists of items are named by their name or URI, not by their
// index. In a Difference, a or b is absent if that side does not have the value. Only request,
// response and moved count as differences; timing and notifications are information.
//
//	{"equal":false,
//	 "a":{"file":"old.jsonl","run":1,"id":"k3f9q","client":"claude-code 2.1","server":"fs 1.0",
//	      "calls":12},
//	 "b":{…},
//	 "same":10,"changed":1,"removed":1,"added":0,"moved":0,
//	 "calls":[{"state":"changed","by":"client","method":"tools/call","name":"read",
//	           "a":{"seq":41,"call":"c9","status":"ok","us":311207,"total_us":490},
//	           "b":{"seq":44,"call":"c9","status":"ok","us":310007,"total_us":91000},
//	           "response":[{"path":"result.content[0].text","a":"x","b":"y"}],
//	           "slower":true}],
//	 "notifications":[{"method":"notifications/progress","a":3,"b":4}],
//	 "ignored":[{"rule":"ids","count":2}]}
package compare
