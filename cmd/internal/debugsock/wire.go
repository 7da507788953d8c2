package debugsock

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"toolman/router/breakpoint"
)

// Bounds of a connection.
const (
	maxLine = 16 << 20 // bytes of a command, or of an event with a message
	maxWait = 96 << 20 // bytes of events that the other end has not read
	maxConn = 16       // connections at a time
)

// ErrUnsupported is the error of Listen and Dial on systems without such sockets.
var ErrUnsupported = errors.New("--debug needs a Unix socket that only one user may use, which toolman does not have on this system")

// A Command is a line from the user's side. Do says what to do:
//
//	addRule rule; removeRule n; seed seed
//	release n; edit n msg; answer n result or error; drop n; delay n ms; releaseAll
type Command struct {
	Seq    uint64           `json:"seq,omitempty"` // of the reply
	Do     string           `json:"do"`
	N      uint64           `json:"n,omitempty"` // of the message or the rule
	Rule   *breakpoint.Rule `json:"rule,omitempty"`
	Msg    json.RawMessage  `json:"msg,omitempty"`
	Result json.RawMessage  `json:"result,omitempty"`
	Error  json.RawMessage  `json:"error,omitempty"`
	MS     int              `json:"ms,omitempty"`
	Seed   uint64           `json:"seed,omitempty"`
}

// A Reply is the event that answers a command. Besides, the lines from toolman are those of
// breakpoint.Event, and the first is a Hello.
type Reply struct {
	Event string `json:"event"` // done or refused
	Seq   uint64 `json:"seq,omitempty"`
	N     uint64 `json:"n,omitempty"`    // of a new rule
	Text  string `json:"text,omitempty"` // why it was refused
}

// A Hello is the first event.
type Hello struct {
	Event string `json:"event"` // hello
	V     int    `json:"v"`     // 1
	Run   string `json:"run"`   // as in the trace
	PID   int    `json:"pid"`
}

// execute executes a command.
func execute(c *breakpoint.Client, line []byte) Reply {
	var cmd Command
	err := json.Unmarshal(line, &cmd)
	reply := Reply{Event: "done", Seq: cmd.Seq}
	if err != nil {
		err = fmt.Errorf("not a command: %w", err)
	} else {
		err = cmd.execute(c, &reply)
	}
	if err != nil {
		reply.Event, reply.Text = "refused", err.Error()
	}
	return reply
}

func (cmd *Command) execute(c *breakpoint.Client, reply *Reply) error {
	switch cmd.Do {
	case "addRule":
		if cmd.Rule == nil {
			return errors.New("addRule needs a rule")
		}
		added, err := c.AddRule(*cmd.Rule)
		reply.N = uint64(added.N)
		return err
	case "removeRule":
		return c.RemoveRule(int(cmd.N))
	case "seed":
		c.Seed(cmd.Seed)
		return nil
	case "release":
		return c.Release(cmd.N)
	case "edit":
		return c.Edit(cmd.N, cmd.Msg)
	case "answer":
		return c.Answer(cmd.N, cmd.Result, cmd.Error)
	case "drop":
		return c.Drop(cmd.N)
	case "delay":
		return c.Delay(cmd.N, cmd.MS)
	case "releaseAll":
		c.ReleaseAll()
		return nil
	}
	return fmt.Errorf("there is no command %q", cmd.Do)
}

// lines calls f for each line of r until one is too long, or r ends.
func lines(r io.Reader, limit int, f func(line []byte)) error {
	in := bufio.NewScanner(r)
	in.Buffer(nil, limit)
	for in.Scan() {
		f(in.Bytes())
	}
	return in.Err()
}
