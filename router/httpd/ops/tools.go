package ops

import (
	"net/http"

	"toolman/router"
)

// Tools serves GET /tools?view=status: which tools and toolsets there are for whoever
// asks, in the form that Toolception has for it. status says that for the client of a
// request; who may come in is decided before. Other views are served by others; nil: there are none.
func Tools(status func(*http.Request) router.ToolStatus, others http.Handler) http.Handler {
	if others == nil {
		others = reading(func(w http.ResponseWriter, r *http.Request) {
			fail(w, http.StatusNotFound, r.URL.Path+" has one view: ?view=status")
		})
	}
	ours := reading(func(w http.ResponseWriter, r *http.Request) { answer(w, http.StatusOK, status(r)) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("view") == "status" {
			ours.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}
