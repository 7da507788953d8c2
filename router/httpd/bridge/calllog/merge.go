package calllog

import "slices"

// Merge returns the latest entries of the logs of several replicas, oldest first. The result is
// never nil.
func Merge(limit int, logs ...[]Entry) []Entry {
	all := []Entry{}
	for _, log := range logs {
		all = append(all, log...)
	}
	slices.SortStableFunc(all, func(x, y Entry) int { return x.Timestamp.Compare(y.Timestamp) })
	return all[max(0, len(all)-limit):]
}
