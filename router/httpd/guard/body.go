package guard

import (
	"io"
	"net/http"
	"time"
)

// bodyTime is how long a request's body may take altogether, however steadily it drips.
const bodyTime = 30 * time.Second

// boundBody makes reading the body fail when it is longer than most bytes or takes longer than bodyTime.
func boundBody(w http.ResponseWriter, r *http.Request, most int64) {
	if r.ContentLength == 0 {
		return // nothing would be read, and so no deadline lifted
	}
	control := http.NewResponseController(w)
	if control.SetReadDeadline(time.Now().Add(bodyTime)) != nil {
		control = nil // no connection beneath
	}
	r.Body = &body{ReadCloser: http.MaxBytesReader(w, r.Body, most), control: control}
}

// A body has a deadline until it is read. The connection must not have one longer than that: the server notices by a read
// that never ends when the client of a stream has gone.
type body struct {
	io.ReadCloser
	control *http.ResponseController // nil when there is nothing to lift
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && b.control != nil {
		b.control.SetReadDeadline(time.Time{}) // it could be set, so it can be lifted
		b.control = nil
	}
	return n, err
}
