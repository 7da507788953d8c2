package hook

import "os"

// polled returns f: the job of the command ends every process that could keep the pipe open.
func polled(f *os.File) *os.File { return f }
