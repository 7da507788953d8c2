package filter

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCases runs the table of cases that the page of traces runs too: both must read filters alike.
func TestCases(t *testing.T) {
	file, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Subjects map[string]subjectCase
		Cases    []struct {
			Line, Error string
			Want        []string
		}
	}
	dec := json.NewDecoder(bytes.NewReader(file))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&table); err != nil {
		t.Fatal(err)
	}
	for _, c := range table.Cases {
		t.Run(c.Line, func(t *testing.T) {
			var f Filter
			words, err := Split(c.Line)
			if err == nil {
				f, err = Parse(words)
			}
			if err != nil || c.Error != "" {
				if err == nil || err.Error() != c.Error {
					t.Errorf("error %v, want %s", err, c.Error)
				}
				return
			}
			var got []string
			for name, s := range table.Subjects {
				if f.Match(s.subject(&f)) {
					got = append(got, name)
				}
			}
			slices.Sort(got)
			slices.Sort(c.Want)
			if !slices.Equal(got, c.Want) {
				t.Errorf("%q matches %s, want %s", c.Line, got, c.Want)
			}
		})
	}
}

// A subjectCase is a subject in the table.
type subjectCase struct {
	Peers, Methods, Names, IDs, Events, Traits []string
	Call, Run, Status                          string
	Code                                       int
	Failed                                     bool
	Bytes                                      int
	Dur                                        int64 `json:"dur_us"`
	Said                                       string
}

func (c *subjectCase) subject(f *Filter) *Subject {
	s := &Subject{Peers: c.Peers, Methods: c.Methods, Names: c.Names, IDs: c.IDs, Events: c.Events, Call: c.Call, Run: c.Run,
		Status: c.Status, Code: c.Code, Failed: c.Failed, Bytes: c.Bytes, Dur: time.Duration(c.Dur) * time.Microsecond}
	for _, key := range []string{"kind", "dir", "leg", "is"} {
		words, traits := wordsOf(key)
		for i, word := range words {
			if slices.Contains(c.Traits, word) {
				s.Traits |= traits[i]
			}
		}
	}
	for _, text := range f.texts {
		s.Texts = append(s.Texts, strings.Contains(strings.ToLower(c.Said), string(text)))
	}
	return s
}
