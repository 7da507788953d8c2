package search

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// What is read of a query.
const (
	maxQuery = 1000 // bytes
	maxWords = 32
	maxHits  = 100
)

// How much what is not the query's own word counts.
const (
	synonymWeight = 0.7
	prefixWeight  = 0.5
	typoWeight    = 0.8 // with one letter wrong
	typosWeight   = 0.55
	joinedWeight  = 0.9
)

const (
	maxAlike  = 6 // words that stand in for an unknown one
	maxJoined = 3 // words that may be written as one
)

// A Hit is a found document.
type Hit struct {
	Doc   int // its index among the documents
	Score float32
}

// Search returns the documents that fit a query best, the best first, at most limit of those for
// which allowed, if not nil, returns true.
func (x *Index) Search(query string, limit int, allowed func(doc int) bool) []Hit {
	terms := x.analyse(query)
	n := len(x.names)
	scores, matched := make([]float32, n), make([]float32, n)
	named := make([]float32, n)
	best, inNames := make([]float32, n), make([]float32, n)
	var touched []uint32
	var whole float32 // the idf of all words
	for _, t := range terms {
		whole += t.idf
		touched = touched[:0]
		for _, v := range t.variants {
			idf := min(x.idf[v.term], t.idf)
			for _, p := range x.posts[x.starts[v.term]:x.starts[v.term+1]] {
				doc := p.doc &^ inName
				if best[doc] == 0 {
					touched = append(touched, doc)
				}
				best[doc] = max(best[doc], v.weight*idf*p.impact)
				if p.doc&inName != 0 {
					inNames[doc] = max(inNames[doc], v.weight)
				}
			}
		}
		for _, doc := range touched {
			scores[doc] += best[doc]
			matched[doc] += t.idf * min(1, 2*best[doc]/max(t.idf, 0.01))
			named[doc] += inNames[doc]
			best[doc], inNames[doc] = 0, 0
		}
	}
	limit = max(0, min(limit, maxHits))
	hits := make([]Hit, 0, limit+1)
	for doc, score := range scores {
		if score == 0 || allowed != nil && !allowed(doc) {
			continue
		}
		hit := Hit{doc, x.weigh(doc, score, matched[doc]/whole, named[doc])}
		if len(hits) == limit && (limit == 0 || hit.Score <= hits[limit-1].Score) {
			continue
		}
		at, _ := slices.BinarySearchFunc(hits, hit, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc)) })
		hits = slices.Insert(hits, at, hit)
		hits = hits[:min(len(hits), limit)]
	}
	return hits
}

// How much it counts that a document has all words of the query, and that the query has all words
// of its name.
const (
	coverWeight = 0.5
	nameWeight  = 0.35
)

// weigh returns the score of a document: covered is how much of the query it has, named how many
// words of its name the query has.
func (x *Index) weigh(doc int, score, covered, named float32) float32 {
	score *= 1 - coverWeight + coverWeight*covered
	if words := float32(x.names[doc]); words > 0 {
		score *= 1 + nameWeight*min(1, named/words)
	}
	return score
}

// A wanted word is one of a query.
type wanted struct {
	variants []variant
	idf      float32
}

// A variant is a term that stands for a wanted word.
type variant struct {
	term   uint32
	weight float32
}

// analyse returns the words of a query that are known, or that are like known ones.
func (x *Index) analyse(query string) (all []wanted) {
	var spelt []string
	var s splitter
	s.split([]byte(query[:min(len(query), maxQuery)]), func(word []byte) {
		if len(spelt) < maxWords {
			spelt = append(spelt, string(word))
		}
	})
	telling := slices.DeleteFunc(slices.Clone(spelt), func(word string) bool { return stopWords()[word] })
	if len(telling) == 0 {
		telling = spelt
	}
	for _, word := range telling {
		if w := x.want(word); len(w.variants) > 0 {
			all = append(all, w)
		}
	}
	for i := range spelt { // "time zone" is also timezone
		joined := spelt[i]
		for _, word := range spelt[i+1 : min(len(spelt), i+maxJoined)] {
			joined += word
			if t, known := x.lookup(joined); known {
				all = append(all, wanted{[]variant{{t, joinedWeight}}, x.idf[t]})
			}
		}
	}
	return all
}

// lookup returns the term of a word.
func (x *Index) lookup(word string) (uint32, bool) {
	t, known := x.stems[string(stem([]byte(word)))]
	return t, known
}

// want returns the terms for a word of a query.
func (x *Index) want(word string) (w wanted) {
	w.add(x, word, 1)
	if len(w.variants) == 0 {
		for _, near := range x.alike(word) {
			w.add(x, near.word, near.weight)
		}
	}
	return w
}

// add adds a word and its synonyms.
func (w *wanted) add(x *Index, word string, weight float32) {
	put := func(t uint32, weight float32) {
		for i := range w.variants {
			if w.variants[i].term == t {
				w.variants[i].weight = max(w.variants[i].weight, weight)
				return
			}
		}
		w.variants = append(w.variants, variant{t, weight})
	}
	t, known := x.lookup(word)
	if known {
		put(t, weight)
		w.idf = max(w.idf, x.idf[t])
	}
	for _, other := range synonymsOf(word) {
		if t, there := x.lookup(other); there {
			put(t, weight*synonymWeight)
			if !known {
				w.idf = max(w.idf, x.idf[t])
			}
		}
	}
}

// A nearWord is one of the vocabulary that is spelt like another.
type nearWord struct {
	word   string
	weight float32
}

// alike returns the words of the vocabulary that an unknown word may mean: those with few other
// letters, and those that it is the start of.
func (x *Index) alike(word string) (near []nearWord) {
	limit := 2
	if n := len(word); n < 3 {
		return nil
	} else if n < 6 {
		limit = 1
	}
	set := letters(word)
	found := [3][]string{}
	consider := func(other string, set2 uint32) {
		if d := len(other) - len(word); d > limit || -d > limit {
			if d > 0 && len(word) >= 4 && strings.HasPrefix(other, word) {
				near = append(near, nearWord{other, prefixWeight})
			}
			return
		}
		if bits.OnesCount32(set^set2) > 2*limit {
			return
		}
		if d := distance(word, other, limit); d <= limit {
			found[d] = append(found[d], other)
		}
	}
	for i := range x.words {
		consider(x.words[i].word, x.words[i].letters)
	}
	for d, weight := range [...]float32{1, typoWeight, typosWeight} {
		if len(found[d]) == 0 {
			continue
		}
		for _, other := range found[d][:min(len(found[d]), maxAlike)] {
			near = append(near, nearWord{other, weight})
		}
		break
	}
	slices.SortStableFunc(near, func(a, b nearWord) int { return cmp.Compare(b.weight, a.weight) })
	return near[:min(len(near), 2*maxAlike)]
}
