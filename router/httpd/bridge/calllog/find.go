package calllog

import (
	"slices"
	"time"

	"toolman/router/budget"
)

// A Query says which entries are wanted.
type Query struct {
	Server string // "": of all servers
	Since  time.Time
	Limit  int
	Of     *budget.Principal // who has made the calls; nil: anybody, with those in Files
	Files  []File
}

func (q *Query) wants(e *Entry) bool {
	return (q.Server == "" || e.Server == q.Server) && !e.Timestamp.Before(q.Since)
}

// Find returns the latest entries that are wanted, oldest first. The result is never nil.
func (l *Log) Find(q Query) []Entry {
	all := l.entries(q.Of)
	if q.Of == nil {
		all = l.merged(all, q.Files)
	}
	all = slices.DeleteFunc(all, func(e *Entry) bool { return !q.wants(e) })
	slices.SortStableFunc(all, func(x, y *Entry) int { return x.Timestamp.Compare(y.Timestamp) })
	found := []Entry{}
	for _, e := range all[max(0, len(all)-q.Limit):] {
		one := *e
		one.Replica = l.o.Replica
		found = append(found, one)
	}
	return found
}

// clockSkew is how far the time in a record may be from that of its call. Some servers write whole
// seconds.
const clockSkew = 2 * time.Second

// A same is what a call and its record have in common.
type same struct {
	server, tool string
	input        digest
}

// merged returns the entries with the records of the files. An entry with a record is replaced by
// one that says so.
func (l *Log) merged(all []*Entry, files []File) []*Entry {
	at := map[same][]int{} // of the entries that have no record yet, in order
	for i, e := range all {
		if e.sent {
			key := same{e.Server, e.Tool, e.input}
			at[key] = append(at[key], i)
		}
	}
	byTime := func(i, j int) int { return all[i].Timestamp.Compare(all[j].Timestamp) }
	for _, list := range at {
		slices.SortStableFunc(list, byTime)
	}
	match := func(r record, fits func(e *Entry) bool) bool {
		for _, server := range r.servers {
			key := same{server, r.Tool, r.input}
			n := slices.IndexFunc(at[key], func(i int) bool { return fits(all[i]) })
			if n < 0 || !r.isNew {
				continue
			}
			e := *all[at[key][n]]
			e.RecordedBy = Both
			all[at[key][n]] = &e
			at[key] = slices.Delete(at[key], n, n+1)
			return true
		}
		return false
	}
	for _, records := range l.records(files) {
		records = slices.DeleteFunc(records, func(r record) bool {
			return match(r, func(e *Entry) bool {
				return !r.Timestamp.Before(e.began.Add(-clockSkew)) && !r.Timestamp.After(e.Timestamp.Add(clockSkew))
			})
		})
		for _, r := range records {
			if !match(r, func(*Entry) bool { return true }) {
				all = append(all, r.Entry)
			}
		}
	}
	return all
}

// records reads files, each once. Without a call, the record in a file of several servers counts as
// that of the first.
func (l *Log) records(files []File) (all [][]record) {
	servers := map[string][]string{} // by path
	for _, f := range files {
		servers[f.Path] = append(servers[f.Path], f.Server)
	}
	for _, f := range files {
		if of := servers[f.Path]; of != nil {
			all = append(all, l.read(f.Path, of))
			delete(servers, f.Path)
		}
	}
	return all
}
