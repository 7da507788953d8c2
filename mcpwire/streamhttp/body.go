package streamhttp

import "io"

// firstRead is how much room is made for a body on its sender's word alone. More comes
// with what has come: who announces much and sends nothing costs little.
const firstRead = 64 << 10

// ReadBody reads a body to its end, or to its first error. announced is its length, as far as its
// sender has said one; -1 if not.
func ReadBody(body io.Reader, announced int64) ([]byte, error) {
	const least = 512
	whole := int(min(max(announced, 0), 1<<30)) + 1 // the end is seen without more room
	text := make([]byte, 0, max(least, min(whole, firstRead)))
	for {
		if len(text) == cap(text) {
			room := 4 * cap(text)
			if cap(text) < whole {
				room = min(room, whole)
			}
			text = append(make([]byte, 0, room), text...)
		}
		n, err := body.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err == io.EOF {
			return text, nil
		}
		if err != nil {
			return text, err
		}
	}
}
