package tap

import (
	"fmt"
	"os"
)

// forward ends the server: Windows has no signals that could be passed on.
func (t *tap) forward(os.Signal) { t.process.KillGroup() }

// end ends this process with the exit code of the server.
func end(status string) {
	code := 1
	fmt.Sscanf(status, "exit status %v", &code)
	os.Exit(code)
}
