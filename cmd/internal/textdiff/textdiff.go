package textdiff

import (
	"fmt"
	"strings"
)

const (
	context = 3 // lines around a change

	// mostCells bounds the table that finds the shortest difference. Larger changes are shown as
	// one block, which is right, and longer than it need be.
	mostCells = 4 << 20
)

// Unified returns the difference as diff -u prints it, or "" if there is none. Line ends are part of
// the lines: a changed line end is a change.
func Unified(oldName, newName string, before, after []byte) string {
	old, now := lines(before), lines(after)
	edits := compare(old, now)
	var b strings.Builder
	for start := 0; start < len(edits); {
		if edits[start].op == ' ' {
			start++
			continue
		}
		first, last := max(0, start-context), hunkEnd(edits, start)
		if b.Len() == 0 {
			fmt.Fprintf(&b, "--- %s\n+++ %s\n", oldName, newName)
		}
		hunk(&b, edits[first:last], edits[:first])
		start = last
	}
	return b.String()
}

// An edit is a line of the diff: of both texts (' '), of the old one ('-') or of the new one ('+').
type edit struct {
	op   byte
	text string
}

// lines splits a text after each line end.
func lines(text []byte) []string {
	all := strings.SplitAfter(string(text), "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// compare returns the edits that make now of old.
func compare(old, now []string) (edits []edit) {
	same := 0
	for same < min(len(old), len(now)) && old[same] == now[same] {
		same++
	}
	tail := 0
	for tail < min(len(old), len(now))-same && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	for _, line := range old[:same] {
		edits = append(edits, edit{' ', line})
	}
	edits = append(edits, middle(old[same:len(old)-tail], now[same:len(now)-tail])...)
	for _, line := range old[len(old)-tail:] {
		edits = append(edits, edit{' ', line})
	}
	return edits
}

// middle finds the longest common part of two lists of lines.
func middle(old, now []string) (edits []edit) {
	width := len(now) + 1
	var common []uint32 // of the ends of both lists, by where the ends begin
	if (len(old)+1)*width <= mostCells {
		common = make([]uint32, (len(old)+1)*width)
		for i := len(old) - 1; i >= 0; i-- {
			for j := len(now) - 1; j >= 0; j-- {
				if old[i] == now[j] {
					common[i*width+j] = common[(i+1)*width+j+1] + 1
				} else {
					common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
				}
			}
		}
	}
	i, j := 0, 0
	for i < len(old) || j < len(now) {
		switch {
		case common != nil && i < len(old) && j < len(now) && old[i] == now[j]:
			edits = append(edits, edit{' ', old[i]})
			i, j = i+1, j+1
		case i < len(old) && (j == len(now) || common == nil || common[(i+1)*width+j] >= common[i*width+j+1]):
			edits = append(edits, edit{'-', old[i]})
			i++
		default:
			edits = append(edits, edit{'+', now[j]})
			j++
		}
	}
	return edits
}

// hunkEnd returns where the hunk with the change at start ends, with the lines around it.
func hunkEnd(edits []edit, start int) int {
	quiet := 0 // unchanged lines since the last change
	for i := start; i < len(edits); i++ {
		if edits[i].op != ' ' {
			quiet = 0
		} else if quiet++; quiet > 2*context {
			return i - context
		}
	}
	return len(edits) - max(0, quiet-context)
}

// hunk writes one hunk; before is what comes before it.
func hunk(b *strings.Builder, edits, before []edit) {
	oldLine, nowLine := count(before)
	oldCount, nowCount := count(edits)
	fmt.Fprintf(b, "@@ -%s +%s @@\n", span(oldLine, oldCount), span(nowLine, nowCount))
	for _, e := range edits {
		b.WriteByte(e.op)
		b.WriteString(e.text)
		if !strings.HasSuffix(e.text, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// count returns how many lines of the old and of the new text are in edits.
func count(edits []edit) (old, now int) {
	for _, e := range edits {
		if e.op != '+' {
			old++
		}
		if e.op != '-' {
			now++
		}
	}
	return old, now
}

// span returns the lines of a hunk as its head names them.
func span(before, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", before)
	case 1:
		return fmt.Sprint(before + 1)
	}
	return fmt.Sprintf("%d,%d", before+1, n)
}
