package page

import (
	"context"
	"net/http"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/compare"
	"toolman/cmd/internal/traces/recording"
)

// A side is one of two sessions that are compared.
type side struct {
	path string
	run  string // which session of the file: its number or name; "": the last
}

// diff compares two sessions as toolman trace diff does, and returns its JSON.
func diff(ctx context.Context, a, b side) ([]byte, error) {
	rules, err := compare.NewRules(false, nil)
	if err != nil {
		return nil, err
	}
	first, err := recording.Read(ctx, recording.Source{File: a.path, Run: a.run})
	if err != nil {
		return nil, err
	}
	second, err := recording.Read(ctx, recording.Source{File: b.path, Run: b.run})
	if err != nil {
		return nil, err
	}
	return cli.JSON(compare.Sessions(first, second, compare.Options{Rules: rules})), nil
}

// serveDiff compares the files a and b: their last sessions, or those that runa and runb name. It
// makes one comparison at a time, because a comparison has both sessions in memory.
func (s *server) serveDiff(w http.ResponseWriter, r *http.Request) {
	a, found := s.file(w, r, "a")
	if !found {
		return
	}
	b, found := s.file(w, r, "b")
	if !found {
		return
	}
	select {
	case s.comparing <- struct{}{}:
		defer func() { <-s.comparing }()
	case <-r.Context().Done():
		return
	}
	query := r.URL.Query()
	text, err := diff(r.Context(), side{a.path, query.Get("runa")}, side{b.path, query.Get("runb")})
	if err != nil {
		http.Error(w, "toolman: "+err.Error(), http.StatusUnprocessableEntity)
		return
	}
	hasToTake(w)
	w.Header().Set("Content-Type", "application/json")
	w.Write(text)
}
