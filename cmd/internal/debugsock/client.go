package debugsock

import "io"

// A Conn is the user's end of a connection. When it is closed, its rules end and its messages go
// on.
type Conn struct{ conn io.ReadWriteCloser }

// Events calls f for each line that toolman sends, until the connection ends. The line is valid
// until f returns.
func (c *Conn) Events(f func(line []byte)) error { return lines(c.conn, maxLine, f) }

// Send sends a command, which is a JSON object without line breaks. It may be called from several
// goroutines.
func (c *Conn) Send(command []byte) error {
	_, err := c.conn.Write(append(append(make([]byte, 0, len(command)+1), command...), '\n'))
	return err
}

// Close ends the connection.
func (c *Conn) Close() error { return c.conn.Close() }
