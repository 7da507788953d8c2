package spawn

import "time"

// read reads until the end of the file, or until finish closes it.
func (s *stderr) read() {
	buf := make([]byte, readBytes)
	for {
		n, err := s.file.Read(buf)
		s.tail.Write(buf[:n])
		if err != nil {
			return
		}
	}
}

// catchUp waits a moment for the last lines.
func (s *stderr) catchUp() { closedWithin(s.eof, 20*time.Millisecond) }
