package guard

import (
	"net/http"
	"time"
)

// bodyTime is how long a request's body may take altogether, however steadily it drips.
const bodyTime = 30 * time.Second

// boundBody makes reading the body fail when it is longer than most bytes or takes longer than bodyTime. At its end net/http
// lifts the deadline. A request without a body must have none: the server is reading already, to notice when its client
// goes, and would take the deadline for that.
func boundBody(w http.ResponseWriter, r *http.Request, most int64) {
	if r.ContentLength == 0 {
		return
	}
	http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // fails only without a connection
	r.Body = http.MaxBytesReader(w, r.Body, most)
}
