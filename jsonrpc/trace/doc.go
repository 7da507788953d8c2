// Package trace writes and reads toolman's trace: JSON lines, one for every frame on every leg and one for every event of a
// session's life. It is the one writer and the one parser of that format; package traceview prints it for people.
//
// # Lines
//
// Every line is a JSON object with "v" (1), "seq", "t", "ts" (wall clock, UTC, microseconds) and "us" (microseconds since the
// start, on a clock that never jumps). "seq" grows by one a line; a gap is lines that were dropped.
//
//	{"v":1,"seq":0,"t":"session", "run", "toolman", "go", "config", "cwd", "client", "upstreams":[{"ns","cmd","pid"}]}
//	{"v":1,"seq":1,"t":"frame", "leg","peer","dir","kind","method","name","id","call","status","code",
//	        "leg_us","total_us","own_us","rewrote","verdict","rule","bytes","trunc","redacted","msg" or "text"(,"raw")}
//	{"v":1,"seq":2,"t":"event", "peer","call","event","count","trunc","text","redacted"}
//
// Fields without a value are left out. "msg" is the frame itself, spliced in byte for byte (a line break between two tokens, which
// a frame of the stdio transport cannot hold, becomes a space). A frame that is not JSON, or not UTF-8, or longer than the cap is
// written as the string "text" instead; one over the cap is cut and marked "trunc"; where UTF-8 is broken, "raw" holds the exact
// bytes in base64. "bytes" is always the length of the whole frame.
//
// # Redaction
//
// The values of the secrets given to the Writer do not reach its output, in these encodings:
//
//   - A secret of four bytes or more is replaced by [redacted] anywhere inside a JSON string, a key, or text that is not JSON.
//     Escapes are resolved before looking, also those of JSON packed into a string of JSON. A number that equals it, or that
//     holds one of eight bytes or more, becomes "[redacted]".
//   - The same with other escapes than JSON's: a backslash before any character, \xHH, %HH (with + for
//     a space), character references of HTML (names of ASCII characters alone). One of these may stand in JSON.
//   - Base64 in both alphabets, also of a longer text that holds the secret, and hex in lower or in
//     upper case, for a secret of 5 bytes to 4 KiB. They may stand in lines of 48 bytes or more, and
//     in text with escapes. Of the base64 of a longer text, the characters at the edges stay, which
//     tell up to four bits of the first byte of the secret and of its last.
//   - A secret of two or three bytes is replaced where it is a whole JSON string or number.
//   - "", single characters and true, false, null, yes, no, on, off, 2.0 are not secrets, in whatever case.
//   - Also looked for: a secret without the white space and quotes around it, and the lines of eight bytes or more of one that
//     has several.
//   - A frame that is cut loses the end of what is kept when that could be the start of a secret.
//   - By key: a JSON string, or an array's strings, under a key that holds authorization, cookie, token, secret, passw, apikey,
//     api_key, api-key or credential. progressToken and page tokens are the protocol's own and stay.
//
// It covers what peers and users put in: msg, text, raw, id, method, name, peer, rule, rewrote, and the session's fields; not
// the words of the format itself. Not found is a secret that is compressed, encrypted, hashed, split,
// in another letter case or in another encoding (base32, quoted-printable), nor base64 of a text in
// which the secret has escapes. Bytes that are not part of a match stay as they were, and a line with
// a replacement says "redacted":true.
//
// # Cost
//
// Producers copy a frame into a queue bounded in bytes and go on; rendering, redaction and writing belong to one goroutine.
// A full queue, a slow, full or broken output drop lines, which are counted and reported by a "drop" event when there is room again.
package trace
