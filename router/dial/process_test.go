//go:build unix

package dial

import (
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/spawn"
)

// An end is a peer.Handler that waits for the end of the connection.
type end chan error

func (e end) Message(*jsonrpc.Message, *peer.Outgoing)    {}
func (e end) Bad(*jsonrpc.Message, error, *peer.Outgoing) {}
func (e end) Closed(err error)                            { e <- err }

// A slow handler counts the messages that come before the end.
type slow struct {
	n int
	end
}

func (s *slow) Message(*jsonrpc.Message, *peer.Outgoing) {
	if s.n++; s.n == 1 {
		time.Sleep(2 * lastBytes)
	}
}

// A process may write its last messages and end while toolman is still busy with earlier ones.
func TestAllThatAProcessHasWrittenIsRead(t *testing.T) {
	loop, err := peer.NewLoop()
	if err != nil {
		t.Fatal(err)
	}
	defer loop.Close()
	const script = `for i in 1 2 3 4; do printf '{"jsonrpc":"2.0","method":"m","params":{"n":"%0200000d"}}\n' 0; done`
	conn, err := Process(spawn.Command{Argv: []string{"/bin/sh", "-c", script}, Env: os.Environ()}, nil, loop, 0, func() spawn.Ladder { return spawn.Ladder{} })
	if err != nil {
		t.Fatal(err)
	}
	h, ended := &slow{end: make(end, 1)}, make(chan struct{})
	conn.Start(h, ended)
	if err := <-h.end; h.n != 4 || err != io.EOF {
		t.Errorf("got %d of 4 messages, and then %v", h.n, err)
	}
	close(ended)
	conn.Stop()
}

// A process that is ending has closed all its pipes some time before its status is known.
func TestTheStatusOfAProcessIsTheCause(t *testing.T) {
	loop, err := peer.NewLoop()
	if err != nil {
		t.Fatal(err)
	}
	defer loop.Close()
	for script, want := range map[string]string{
		"exit 3":                              "it ended with exit status 3, true",
		"exec <&- >&-; sleep 0.5; exit 0":     "it ended with exit status 0, false",
		"exec <&- >&-; sleep 0.5; kill -9 $$": "it was killed by SIGKILL, true",
		"exec >&-; exec sleep 1000":           "it closed its output: EOF, true",
	} {
		t.Run(script, func(t *testing.T) {
			command := spawn.Command{Argv: []string{"/bin/sh", "-c", script}, Env: os.Environ()}
			conn, err := Process(command, nil, loop, 0, func() spawn.Ladder { return spawn.Ladder{} })
			if err != nil {
				t.Fatal(err)
			}
			ended, closed := make(chan struct{}), make(end, 1)
			conn.Start(closed, ended)
			why, failed := conn.Cause(<-closed)
			close(ended)
			conn.Stop()
			if got := fmt.Sprintf("%s, %t", why, failed); got != want {
				t.Errorf("the cause is %s, want %s", got, want)
			}
		})
	}
}
