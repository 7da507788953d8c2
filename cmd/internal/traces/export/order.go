package export

import (
	"slices"

	"toolman/jsonrpc/trace"
)

// listOrder is how the lists stand in a dialog that toolman asks for at once.
var listOrder = []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"}

// ordered returns the frames among the records. Requests to a server for lists, which are made at
// once, stand one after the other, each with its answer, because their order is by chance.
func ordered(records []*trace.Record) []*trace.Record {
	var frames []*trace.Record
	lists := map[string][]int{} // by server: where the frames of its lists are
	settle := func(peer string) {
		var run []*trace.Record
		for _, at := range lists[peer] {
			run = append(run, frames[at])
		}
		slices.SortStableFunc(run, func(a, b *trace.Record) int {
			return slices.Index(listOrder, a.Method) - slices.Index(listOrder, b.Method)
		})
		for i, at := range lists[peer] {
			frames[at] = run[i]
		}
		delete(lists, peer)
	}
	for _, r := range records {
		if r.Type != trace.TypeFrame {
			continue
		}
		frames = append(frames, r)
		if r.Leg == trace.Upstream && slices.Contains(listOrder, r.Method) {
			lists[r.Peer] = append(lists[r.Peer], len(frames)-1)
		} else if r.Leg == trace.Upstream {
			settle(r.Peer)
		}
	}
	for peer := range lists {
		settle(peer)
	}
	return frames
}
