package dial

import "os"

// unread is not known on Windows, where a pipe cannot be asked while another goroutine reads it.
func unread(*os.File) bool { return false }
