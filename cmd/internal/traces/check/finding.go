package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toolman/jsonrpc/trace"
	"toolman/mcpwire/sanitize"
)

// A Kind is a kind of finding.
type Kind struct {
	Name string
	Code int // the exit code
	What string
}

// Kinds are all kinds of findings, the most severe first.
var Kinds = []Kind{
	{"violation", 10, "messages that break the protocol"},
	{"hung", 11, "calls without an answer"},
	{"stray", 12, "lines on stdout that are no messages"},
	{"late", 13, "answers to calls that were over, or to none"},
	{"error", 14, "calls that failed"},
	{"budget", 15, "budgets of --max that were exceeded"},
	{"dropped", 16, "lines that the trace lost"},
}

// A Finding is something that is wrong, and how often it was found.
type Finding struct {
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Count  int    `json:"count"`
	Run    int    `json:"run"` // which session of the file, from 1; 0: all
	Seq    uint64 `json:"seq"` // of the first line with it
	US     int64  `json:"us"`
	Call   string `json:"call,omitempty"`
	Peer   string `json:"peer,omitempty"`
	Method string `json:"method,omitempty"`
	Name   string `json:"name,omitempty"`
}

// findings are collected; equal ones are counted.
type findings struct {
	all   []*Finding
	known map[string]*Finding
}

func (f *findings) add(kind string, run int, r *trace.Record, text string) {
	f.put(Finding{Kind: kind, Text: text, Count: 1, Run: run, Seq: r.Seq, US: r.US, Call: r.Call, Peer: r.Peer, Method: r.Method, Name: r.Name})
}

func (f *findings) put(one Finding) {
	one.Text = sanitize.Line(one.Text)
	key := strings.Join([]string{one.Kind, one.Peer, one.Method, one.Name, one.Text}, "\x00")
	if was := f.known[key]; was != nil {
		was.Count += one.Count
		return
	}
	if f.known == nil {
		f.known = map[string]*Finding{}
	}
	f.known[key] = &one
	f.all = append(f.all, &one)
}

// sorted returns the findings, the most severe kinds first, each in the order of the trace.
func (f *findings) sorted() []*Finding {
	place := func(x *Finding) int { return slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == x.Kind }) }
	slices.SortStableFunc(f.all, func(a, b *Finding) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Run, b.Run), cmp.Compare(a.Seq, b.Seq))
	})
	return f.all
}

// String describes a finding in a line.
func (f *Finding) String() string {
	where := ""
	if f.Kind != "budget" {
		where = fmt.Sprintf("line %d of session %d, ", f.Seq, f.Run)
	}
	what := strings.TrimSpace(f.Peer + " " + strings.TrimSpace(f.Method+" "+f.Name))
	if f.Call != "" {
		where += f.Call + ", "
	}
	text := sanitize.Line(where + what + ": " + sanitize.Cut(f.Text, 400))
	if f.Count > 1 {
		text += fmt.Sprintf(" (%d times)", f.Count)
	}
	return fmt.Sprintf("%-9s  %s", f.Kind, text)
}
