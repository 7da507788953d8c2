package ops

import "net/http"

// Probes serves what whoever runs toolman may ask without saying who they are: GET
// /healthz and GET /health. Anything else is not found.
func Probes(h *Health) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("/healthz", Alive())
	mux.Handle("/health", h)
	return mux
}
