// Package trace writes and reads toolman's trace: a file of JSON lines, one for each frame on each
// leg and one for each event of a session. It defines the format; package printer prints it for
// people.
//
// # Lines
//
// Every line is a JSON object with "v" (1), "seq", "t", "ts" (wall clock, UTC, microseconds) and
// "us" (microseconds since the start, monotonic). "seq" grows by one with each line. A gap means
// that lines were dropped.
//
//	{"v":1,"seq":0,"t":"session", "run","toolman","go","config","cwd","client","tap","debug",
//	        "upstreams":[{"ns","cmd","pid"}]}
//	{"v":1,"seq":1,"t":"frame", "leg","peer","dir","kind","method","name","id","call","status","code",
//	        "leg_us","total_us","own_us","rewrote","verdict","rule","bytes","trunc","redacted",
//	        "msg" or "text"(,"raw")}
//	{"v":1,"seq":2,"t":"event", "peer","call","event","count","trunc","text","redacted"}
//	{"v":1,"seq":3,"t":"event", "peer","call","event":"held","leg","dir","kind","method","name",
//	        "id","hold","done","held_us","msg","text","redacted"}
//
// Fields without a value are omitted. "msg" is the frame itself, byte for byte, except that a line
// break between two tokens becomes a space. A frame that is not JSON, not UTF-8 or longer than the
// limit is the string "text" instead. If it is too long, it is cut, and "trunc" is true. If it is
// not UTF-8, "raw" holds the exact bytes in base64. "bytes" is always the length of the whole
// frame.
//
// "tap" is the name of the server if the trace is of a tap. Such a trace has one leg: all frames
// are between the client and the server, "in" those of the client, "out" those of the server. The
// times of calls are in "total_us". The event "exit" says how the server has ended, "http" what is
// not in messages over HTTP.
//
// With --debug, "debug" of the session line is the path of the socket, and there are events of
// messages that the user or a rule has chosen. "held" says that the message with the number "hold"
// waits, and "released" that it waits no longer, after "held_us". "fault" says what a rule has
// done. "done" is passed, edited, answered, dropped, delayed, cancelled or disconnected. "leg",
// "peer" and "id" are those of the message, whose frame follows when it goes on. "msg" is the
// message as it came if another goes on in its place. A message that toolman answers or drops is a
// frame, too, which ends there.
//
// # Redaction
//
// A Writer removes secrets as package redact describes. This covers msg, text, raw, id, method,
// name, peer, rule, rewrote, and the fields of the session line. "redacted" lists where the line
// has a placeholder, as paths within the line: "msg.params.arguments.token", "upstreams[0].cmd",
// `msg.result._meta["a key"]`, "text". A placeholder in JSON in a string has the path of the
// string. If a path would be too long, or there were too many, one names an object or array around
// the placeholders. Older traces have "redacted":true instead.
//
// # Refusals
//
// A response with which toolman refuses a request has the decision in "verdict" (denied, inactive,
// held, unknown, ambiguous, …) and the reason in "rule": the rule of the configuration with its
// file and line, or a few words. An invalid frame has in "rule" what is wrong with it.
//
// # Cost
//
// Callers copy a frame into a queue of limited size. One goroutine renders, redacts and writes it.
// If the queue is full, or the output fails, lines are dropped and counted, and a "drop" event
// reports them when there is room again. See package asyncwriter.
package trace
