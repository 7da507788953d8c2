package search

import "math"

// A Document is an item to be found.
type Document struct {
	Server     string // the server's name or namespace
	Name       string // the item's name at its server, or its URI
	Definition []byte // the item as in a list of its server, a JSON object
}

// A field is a part of a document.
type field uint8

const (
	name field = iota
	server
	lead // title, and the first words of the description
	body // the rest of the description
	param
	paramText
	fields
)

// fieldWeights are how much a word in a field counts, and lengthWeights how much less in a field
// that is longer than the average.
var (
	fieldWeights  = [fields]float32{name: 5, server: 3, lead: 2.5, body: 0.8, param: 0.9, paramText: 0.35}
	lengthWeights = [fields]float32{name: 0.6, server: 0, lead: 0.4, body: 0.6, param: 0.6, paramText: 0.7}
)

// saturation is BM25's k1: how much the repetition of a word counts.
const saturation = 1.4

// An Index finds documents. It is immutable.
type Index struct {
	stems  map[string]uint32 // the terms by stem
	words  []vocable         // all words, as they are spelt
	starts []uint32          // by term: where its postings begin; the last element: where all end
	posts  []posting
	idf    []float32 // by term
	names  []uint8   // by document: how many words of its name are not of its server
}

// A vocable is a word of the documents as it is spelt.
type vocable struct {
	word    string
	term    uint32
	letters uint32 // the set of its letters
	stop    bool   // it tells nothing in prose
}

// A posting says that a term is in a document.
type posting struct {
	doc    uint32 // with inName set, if the term is a word of its name
	impact float32
}

const inName = 1 << 31

// An occurrence counts a term in the fields of a document.
type occurrence struct {
	term, doc uint32
	counts    [fields]uint8
}

// A builder collects what an Index is made of.
type builder struct {
	Index
	splitter
	ids    map[string]uint32 // of the vocables, by word
	found  []occurrence      // in the order of the documents
	last   []uint32          // by term: 1 + its last occurrence
	lens   [][fields]uint16  // by document
	sums   [fields]uint64
	doc    uint32
	common map[commonKey]int
}

type commonKey struct {
	server string
	term   uint32
}

// New returns the index of some documents.
func New(docs []Document) *Index {
	b := builder{ids: map[string]uint32{}, common: map[commonKey]int{}}
	b.stems = make(map[string]uint32, 4096)
	b.lens = make([][fields]uint16, len(docs))
	b.found = make([]occurrence, 0, 32*len(docs))
	sizes := map[string]int{}
	var r reader
	var f field
	yield := func(word []byte) { b.add(f, word) }
	add := func(of field, text []byte) {
		f = of
		b.split(text, yield)
	}
	for i := range docs {
		d := &docs[i]
		sizes[d.Server]++
		b.doc = uint32(i)
		add(server, []byte(d.Server[:min(len(d.Server), maxBody)]))
		add(name, []byte(d.Name[:min(len(d.Name), maxBody)]))
		r = reader{b: d.Definition, add: add, scratch: r.scratch}
		r.definition()
	}
	b.finish(docs, sizes)
	x := b.Index // alone, without what only the builder needs
	return &x
}

// add counts a word.
func (b *builder) add(f field, word []byte) {
	v := &b.words[b.vocable(word)]
	if v.stop && f != name && f != server && f != param {
		return
	}
	at := b.last[v.term]
	if at == 0 || b.found[at-1].doc != b.doc {
		b.found = append(b.found, occurrence{term: v.term, doc: b.doc})
		at = uint32(len(b.found))
		b.last[v.term] = at
	}
	counts := &b.found[at-1].counts
	if counts[f] < math.MaxUint8 {
		counts[f]++
	}
	b.sums[f]++
	if b.lens[b.doc][f] < math.MaxUint16 {
		b.lens[b.doc][f]++
	}
}

// vocable returns the vocable of a word. It may change the word.
func (b *builder) vocable(word []byte) uint32 {
	id, known := b.ids[string(word)]
	if !known {
		id = uint32(len(b.words))
		spelt := string(word)
		b.ids[spelt] = id
		b.words = append(b.words, vocable{spelt, b.term(word), letters(spelt), stopWords()[spelt]})
	}
	return id
}

// term returns the term of a word. It may change the word.
func (b *builder) term(word []byte) uint32 {
	stemmed := stem(word)
	t, known := b.stems[string(stemmed)]
	if !known {
		t = uint32(len(b.last))
		b.stems[string(stemmed)] = t
		b.last = append(b.last, 0)
	}
	return t
}

// finish makes the postings from the occurrences.
func (b *builder) finish(docs []Document, sizes map[string]int) {
	n := len(b.last)
	b.starts = make([]uint32, n+1)
	for i := range b.found {
		o := &b.found[i]
		b.starts[o.term+1]++
		if o.counts[name] > 0 {
			b.common[commonKey{docs[o.doc].Server, o.term}]++
		}
	}
	b.idf = make([]float32, n)
	for t := range n {
		df := float64(b.starts[t+1])
		b.idf[t] = float32(math.Log1p((float64(len(docs)) - df + 0.5) / (df + 0.5)))
		b.starts[t+1] += b.starts[t]
	}
	var average [fields]float32
	for f := range average {
		average[f] = max(1, float32(b.sums[f])) / float32(max(1, len(docs)))
	}
	b.posts, b.names = make([]posting, len(b.found)), make([]uint8, len(docs))
	next := append([]uint32(nil), b.starts...)
	for i := range b.found {
		o := &b.found[i]
		p := posting{doc: o.doc}
		var tf float32
		for f, count := range o.counts {
			if count > 0 {
				tf += fieldWeights[f] * float32(count) / (1 + lengthWeights[f]*(float32(b.lens[o.doc][f])/average[f]-1))
			}
		}
		p.impact = tf / (saturation + tf)
		if from := docs[o.doc].Server; o.counts[name] > 0 && !b.ofServer(o, from, sizes[from]) {
			p.doc |= inName
			if b.names[o.doc] < math.MaxUint8 {
				b.names[o.doc]++
			}
		}
		b.posts[next[o.term]] = p
		next[o.term]++
	}
}

// ofServer reports whether a word of a name is only one of the server: its name, or what most of
// its names have, such as browser_.
func (b *builder) ofServer(o *occurrence, from string, size int) bool {
	return o.counts[server] > 0 || size >= 4 && 2*b.common[commonKey{from, o.term}] > size
}

// letters returns the set of the letters of a word.
func letters(word string) (set uint32) {
	for i := range len(word) {
		set |= 1 << (word[i] & 31)
	}
	return set
}
