package filter

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolman/jsonrpc/trace"
)

// A Filter selects calls, frames and events. The zero value selects everything.
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
	case "event":
		return func(s *Subject) bool { return anyLike(s.Events, value) }, nil
	case "run":
		return func(s *Subject) bool { return anyLike([]string{s.Run}, value) }, nil
	case "id":
		quoted := strconv.Quote(value)
		return func(s *Subject) bool { return slices.Contains(s.IDs, value) || slices.Contains(s.IDs, quoted) }, nil
	case "kind", "dir", "leg", "is":
		return trait(key, value)
	case "size":
		return size(value)
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

func trait(key, value string) (func(*Subject) bool, error) {
	words, traits := wordsOf(key)
	if i := slices.Index(words, strings.ToLower(value)); i >= 0 {
		return func(s *Subject) bool { return s.Traits&traits[i] != 0 }, nil
	}
	return nil, fmt.Errorf("%s: is one of %s", key, strings.Join(words, ", "))
}

func dur(value string) (func(*Subject) bool, error) {
	number := strings.TrimLeft(value, "<>=")
	limit, err := time.ParseDuration(number)
	if err != nil {
		return nil, fmt.Errorf("%q is not a duration; write for example dur:>50ms", number)
	}
	return bound(strings.TrimSuffix(value, number), int64(limit), func(s *Subject) int64 { return int64(s.Dur) })
}

func size(value string) (func(*Subject) bool, error) {
	number := strings.TrimLeft(value, "<>=")
	lower := strings.ToLower(number)
	digits := strings.TrimRight(lower, "bkm")
	unit := map[string]int64{"": 1, "b": 1, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6}[lower[len(digits):]]
	limit, err := strconv.ParseUint(digits, 10, 30)
	if err != nil || unit == 0 || len(digits) > 9 {
		return nil, fmt.Errorf("%q is not a size; write for example size:>10KB", number)
	}
	return bound(strings.TrimSuffix(value, number), int64(limit)*unit, func(s *Subject) int64 { return int64(s.Bytes) })
}

// bound returns what compares a number of the subject, if it is known, with a limit.
func bound(operator string, limit int64, of func(*Subject) int64) (func(*Subject) bool, error) {
	holds := map[string]func(n int64) bool{
		">": func(n int64) bool { return n > limit }, ">=": func(n int64) bool { return n >= limit },
		"<": func(n int64) bool { return n < limit }, "<=": func(n int64) bool { return n <= limit },
	}[operator]
	if holds == nil {
		return nil, errors.New("it needs one of > >= < <=")
	}
	return func(s *Subject) bool { n := of(s); return n > 0 && holds(n) }, nil
}

// anyLike reports whether one of the names contains the pattern, or matches it if it has a *.
func anyLike(names []string, pattern string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return name != "" && like(strings.ToLower(name), strings.ToLower(pattern))
	})
}

func like(name, pattern string) bool {
	if !strings.Contains(pattern, "*") {
		return strings.Contains(name, pattern)
	}
	return Matches(name, pattern)
}

// Matches reports whether a pattern, in which * stands for any text, matches the whole text.
func Matches(text, pattern string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	if last == 0 {
		return text == pattern
	}
	text, ok := strings.CutPrefix(text, parts[0])
	for _, part := range parts[1:last] {
		_, rest, found := strings.Cut(text, part)
		text, ok = rest, ok && found
	}
	return ok && strings.HasSuffix(text, parts[last])
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
