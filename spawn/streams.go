package spawn

import (
	"cmp"
	"os"
)

// streams are the three pipes between this process and a child.
// The ends of stdin and stdout are blocking descriptors that Go's poller does not know, for the caller to do with as it
// likes; our end of stderr is in the poller, so that reading it costs no thread and can be given a deadline.
type streams struct {
	stdin, stdout, stderr                *os.File // ours
	theirStdin, theirStdout, theirStderr *os.File
}

// defaultPipeSize halves the cost of large messages against Linux's usual 64 KiB.
const defaultPipeSize = 1 << 20

func newStreams(c *Command) (*streams, error) {
	s := new(streams)
	size := cmp.Or(c.PipeSize, defaultPipeSize)
	for _, open := range []func() error{
		func() (err error) { s.theirStdin, s.stdin, err = newPipe(c.Name+" stdin", size); return },
		func() (err error) { s.stdout, s.theirStdout, err = newPipe(c.Name+" stdout", size); return },
		func() (err error) { s.stderr, s.theirStderr, err = newPolledPipe(c.Name + " stderr"); return },
	} {
		if err := open(); err != nil {
			s.closeTheirs()
			s.closeOurs()
			return nil, err
		}
	}
	return s, nil
}

// Closing a nil *os.File does nothing.

func (s *streams) closeTheirs() {
	s.theirStdin.Close()
	s.theirStdout.Close()
	s.theirStderr.Close()
}

func (s *streams) closeOurs() {
	s.stdin.Close()
	s.stdout.Close()
	s.stderr.Close()
}
