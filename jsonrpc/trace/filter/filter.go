package filter

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolman/jsonrpc/trace"
)

// A Filter selects what is printed. The zero value selects everything.
type Filter struct {
	conditions []condition
	texts      [][]byte // of the text conditions, in lower case
}

// Texts returns how many texts the filter looks for.
func (f *Filter) Texts() int { return len(f.texts) }

type condition struct {
	not   bool
	match func(*Subject) bool
}

// A Subject is what a filter is applied to: a call, a frame or an event.
type Subject struct {
	Peers, Methods, Names []string
	Call, Status          string
	Code                  int
	Failed                bool
	Dur                   time.Duration // 0: unknown
	Texts                 []bool        // which of the filter's texts it holds: what Find returns
}

// Parse parses filters, one in each argument.
func Parse(args []string) (Filter, error) {
	var f Filter
	for _, arg := range args {
		if err := f.add(arg); err != nil {
			return Filter{}, fmt.Errorf("filter %q: %w", arg, err)
		}
	}
	return f, nil
}

func (f *Filter) add(arg string) error {
	not := strings.HasPrefix(arg, "!") || strings.HasPrefix(arg, "-")
	if not {
		arg = arg[1:]
	}
	key, value, found := strings.Cut(arg, ":")
	if !found || !isWord(key) || strings.HasPrefix(value, "//") { // a URI is a text
		key, value = "text", arg
	}
	if value == "" {
		return errors.New("there is nothing to look for")
	}
	match, err := f.matcher(key, value)
	f.conditions = append(f.conditions, condition{not, match})
	return err
}

func isWord(s string) bool {
	return s != "" && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz") == ""
}

func (f *Filter) matcher(key, value string) (func(*Subject) bool, error) {
	switch key {
	case "tool", "name":
		return func(s *Subject) bool { return anyLike(s.Names, value) }, nil
	case "peer":
		return func(s *Subject) bool { return anyLike(s.Peers, value) }, nil
	case "method":
		return func(s *Subject) bool { return anyLike(s.Methods, value) }, nil
	case "call":
		return func(s *Subject) bool { return s.Call != "" && s.Call == "c"+strings.TrimPrefix(value, "c") }, nil
	case "status":
		return status(value)
	case "dur":
		return dur(value)
	case "text":
		i := len(f.texts)
		f.texts = append(f.texts, bytes.ToLower([]byte(value)))
		return func(s *Subject) bool { return s.Texts[i] }, nil
	}
	return nil, fmt.Errorf("no filter is called %s", key)
}

func status(value string) (func(*Subject) bool, error) {
	value = strings.ToLower(value)
	if code, err := strconv.Atoi(value); err == nil {
		return func(s *Subject) bool { return s.Code == code && s.Status == trace.StatusRPCError }, nil
	}
	switch value {
	case "error":
		return func(s *Subject) bool { return s.Failed }, nil
	case trace.StatusOK, trace.StatusRPCError, trace.StatusToolError, trace.StatusCancelled, trace.StatusTimeout,
		trace.StatusLate, trace.StatusOrphan, trace.StatusLocal, trace.StatusCached, trace.StatusPending, trace.StatusGone:
		return func(s *Subject) bool { return s.Status == value }, nil
	}
	return nil, errors.New("there is no such status")
}

func dur(value string) (func(*Subject) bool, error) {
	number := strings.TrimLeft(value, "<>=")
	limit, err := time.ParseDuration(number)
	if err != nil {
		return nil, fmt.Errorf("%q is not a duration; write for example dur:>50ms", number)
	}
	holds := map[string]func(d time.Duration) bool{
		">": func(d time.Duration) bool { return d > limit }, ">=": func(d time.Duration) bool { return d >= limit },
		"<": func(d time.Duration) bool { return d < limit }, "<=": func(d time.Duration) bool { return d <= limit },
	}[strings.TrimSuffix(value, number)]
	if holds == nil {
		return nil, errors.New("it needs one of > >= < <=")
	}
	return func(s *Subject) bool { return s.Dur > 0 && holds(s.Dur) }, nil
}

// anyLike reports whether one of the names contains the pattern, or matches it if it has a *.
func anyLike(names []string, pattern string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return name != "" && like(strings.ToLower(name), strings.ToLower(pattern))
	})
}

func like(name, pattern string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return strings.Contains(name, pattern)
	}
	name, ok := strings.CutPrefix(name, parts[0])
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		_, rest, found := strings.Cut(name, part)
		name, ok = rest, ok && found
	}
	return ok && strings.HasSuffix(name, parts[last])
}

// Match reports whether s meets all conditions.
func (f *Filter) Match(s *Subject) bool {
	for _, c := range f.conditions {
		if c.match(s) == c.not {
			return false
		}
	}
	return true
}

// Find reports which of the texts are in r.
func (f *Filter) Find(r *trace.Record) []bool {
	if len(f.texts) == 0 {
		return nil
	}
	said := bytes.ToLower(slices.Concat(r.Payload(), []byte("\n"+r.Method+"\n"+r.Name+"\n"+r.Peer+"\n"+r.Event)))
	found := make([]bool, len(f.texts))
	for i, text := range f.texts {
		found[i] = bytes.Contains(said, text)
	}
	return found
}

// SubjectOf returns a frame or an event as a subject.
func (f *Filter) SubjectOf(r *trace.Record) *Subject {
	return &Subject{
		Peers: []string{r.Peer, string(r.Leg)}, Methods: []string{r.Method}, Names: []string{r.Name},
		Call: r.Call, Status: r.Status, Code: r.Code, Failed: trace.IsFailure(r.Status) || r.Kind == trace.Invalid,
		Dur:   time.Duration(cmp.Or(r.TotalUS, r.LegUS)) * time.Microsecond,
		Texts: f.Find(r),
	}
}
