// Package search ranks tools and other items by a query in plain words.
//
// An [Index] knows the words of names, titles, descriptions and parameters. [Index.Search] ranks
// with BM25F: a word in a name counts more than the same word in a description, a rare word more
// than a common one, and a word in a short text more than in a long one. Words are compared by
// their English stems. A word also finds its synonyms, and an unknown word those that are spelt
// like it, all with a lower weight.
//
// The package does no I/O and has no state but that of an Index, which is immutable. Items and
// queries are foreign text: what is read of each is bounded.
package search
