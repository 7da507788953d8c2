//go:build unix

package spawn

import "golang.org/x/sys/unix"

// mostReads limits how often one after the other is read without waiting. A pipe holds less.
const mostReads = 64

// read reads until the end of the file, or until the deadline that finish has set, however late it
// is itself: what the pipe holds then is read, too.
func (s *stderr) read() {
	conn, err := s.file.SyscallConn()
	for over := false; err == nil && !over; {
		err = conn.Read(func(fd uintptr) bool {
			var empty bool
			empty, over = s.take(int(fd))
			return !empty
		})
	}
	s.catchUp()
}

// catchUp reads what the pipe holds, without waiting.
func (s *stderr) catchUp() {
	if conn, err := s.file.SyscallConn(); err == nil {
		conn.Control(func(fd uintptr) { s.take(int(fd)) }) // fails if drain has closed the file
	}
}

// take reads what the pipe holds, and reports whether the pipe is empty, or at its end.
func (s *stderr) take(fd int) (empty, over bool) {
	s.turn.Lock()
	defer s.turn.Unlock()
	var buf [readBytes]byte
	for range mostReads {
		switch n, err := unix.Read(fd, buf[:]); {
		case n > 0:
			s.tail.Write(buf[:n])
		case err == unix.EAGAIN:
			return true, false
		case err != unix.EINTR:
			return false, true
		}
	}
	return false, false
}
