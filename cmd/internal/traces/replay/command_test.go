//go:build unix

package replay_test

import (
	"bytes"
	"strings"
	"testing"

	"toolman/cmd/internal/traces/replay"
	"toolman/fixtures/tape"
)

// The end of the output comes before that of the process.
func TestTheReportSaysHowAServerHasEnded(t *testing.T) {
	var out bytes.Buffer
	for range 20 { // on a busy machine it may come later than replay waits for it
		out.Reset()
		cmd := replay.New()
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs([]string{tape.Write(t, hello+readCall+readReply), "--", "sh", "-c", "read line; exec >&-; sleep 0.1; exit 3"})
		cmd.SetOut(&out)
		if err := cmd.ExecuteContext(t.Context()); err == nil {
			t.Fatalf("no error, and\n%s", out.String())
		}
		if strings.Contains(out.String(), "the server ended by itself: exit status 3") {
			return
		}
	}
	t.Errorf("got\n%s", out.String())
}
