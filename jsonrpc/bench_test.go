package jsonrpc

import (
	"fmt"
	"strings"
	"testing"
)

const call100 = `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"fs_read_file","arguments":{"path":"a/b"}}}`

// textReply is a reply of about n bytes that is mostly one long string.
func textReply(n int, line string) []byte {
	const head, tail = `{"jsonrpc":"2.0","id":17,"result":{"content":[{"type":"text","text":"`, `"}],"isError":false}}`
	lines := max(0, n-len(head)-len(tail)) / len(line)
	return []byte(head + strings.Repeat(line, lines) + tail)
}

const (
	proseLine  = `It was the best of times, it was the \"worst\" of times, they say;\n`
	sourceLine = `\tif err := s.text(); err != nil {\n\t\treturn err // \"as is\"\n\t}\n`
	kanjiLine  = `吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n`
)

// treeReply is a reply of about n bytes that is mostly small values.
func treeReply(n int) []byte {
	b := []byte(`{"jsonrpc":"2.0","id":17,"result":{"content":[],"structuredContent":{"rows":[{}`)
	for i := 0; len(b) < n-110; i++ {
		b = fmt.Appendf(b, `,{"id":%d,"name":"row %d","size":[%d,-1.5e3],"ok":true,"tags":["a","bc"],"next":null,"at":{"x":%d,"y":0}}`, i, i, i*7, i%100)
	}
	return append(b, `]},"isError":false}}`...)
}

func BenchmarkScan(b *testing.B) {
	frames := []struct {
		name  string
		frame []byte
	}{
		{"call/100", []byte(call100)},
		{"text/1k", textReply(1000, proseLine)},
		{"text/10k", textReply(10_000, proseLine)},
		{"text/1M", textReply(1_000_000, proseLine)},
		{"source/1M", textReply(1_000_000, sourceLine)},
		{"kanji/1M", textReply(1_000_000, kanjiLine)},
		{"tree/1k", treeReply(1000)},
		{"tree/10k", treeReply(10_000)},
		{"tree/1M", treeReply(1_000_000)},
	}
	for _, f := range frames {
		b.Run(f.name, func(b *testing.B) {
			b.SetBytes(int64(len(f.frame)))
			b.ReportAllocs()
			var m Message
			for b.Loop() {
				if err := Scan(f.frame, &m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendSplice(b *testing.B) {
	for _, n := range []int{100, 10_000, 1_000_000} {
		frame := textReply(n, proseLine)
		var m Message
		if err := Scan(frame, &m); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = AppendSplice(dst[:0], frame, Edit{m.ID, []byte("123456")})
			}
		})
	}
}

func BenchmarkAppendQuoted(b *testing.B) {
	for name, text := range map[string]string{
		"plain":    strings.Repeat("Reads a file and returns its text. ", 4),
		"Japanese": strings.Repeat("ファイルを読み、その内容を返します。", 3),
		"escapes":  strings.Repeat("\tif a {\n\t\treturn \"b\"\n\t}\n", 6),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = AppendQuoted(dst[:0], text)
			}
		})
	}
}

// allocates fails the test when f allocates more than budget, on average.
func allocates(t *testing.T, what string, budget float64, f func()) {
	t.Helper()
	f() // what is allocated once is
	if n := testing.AllocsPerRun(200, f); n > budget {
		t.Errorf("%s: %v allocations, the budget is %v", what, n, budget)
	}
}

func TestReadingAMessageAllocatesNothing(t *testing.T) {
	var m Message
	for name, frame := range map[string][]byte{
		"a call":               []byte(call100),
		"a reply of text":      textReply(10_000, proseLine),
		"a reply in Japanese":  textReply(10_000, kanjiLine),
		"a reply of trees":     treeReply(10_000),
		"a response to no one": []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`),
		"members nobody knows": []byte(`{"jsonrpc":"2.0","id":1,"method":"a","` + strings.Repeat("unknown", 20) + `":1,"params":` + padded(`"n":1`) + `}`),
		"nested 60 deep":       []byte(`{"jsonrpc":"2.0","id":1,"result":` + nest(60, true) + `}`),
	} {
		allocates(t, "Scan of "+name, 0, func() {
			if err := Scan(frame, &m); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestLookingIntoAMessageAllocatesNothing(t *testing.T) {
	few := mustScan(t, call100)
	many := mustScan(t, `{"jsonrpc":"2.0","id":1,"method":"a","params":`+padded(`"name":"x","ключ":1`)+`}`)
	for name, m := range map[string]*Message{"few": few, "many": many} {
		allocates(t, "Param, "+name+" members", 0, func() {
			at, err := m.Param("name")
			if err != nil || len(m.Text(at)) == 0 {
				t.Fatal(m.Text(at), err)
			}
			if at, err := m.Param("_meta"); err != nil || at.Present() {
				t.Fatal(at, err)
			}
		})
	}
}
