package ops

import (
	"net/http"

	"toolman/router"
)

// Tools serves which tools and toolsets there are for whoever asks, in the form that
// Toolception has for it. Who may come in is decided before; status says what there is for
// the client of a request.
func Tools(status func(*http.Request) router.ToolStatus) http.Handler {
	return reading(func(w http.ResponseWriter, r *http.Request) { answer(w, http.StatusOK, status(r)) })
}
