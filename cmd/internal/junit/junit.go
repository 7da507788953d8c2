package junit

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"
)

// A Suite is a group of test cases.
type Suite struct {
	Name  string
	Cases []Case
}

// A Case is the result of one test.
type Case struct {
	Class, Name string
	Time        time.Duration
	Failure     string // why it failed; "": it did not. The first line is the message.
	Skipped     string // why it did not run; "": it ran
}

// Failed returns how many cases failed.
func (s *Suite) Failed() (n int) {
	for _, c := range s.Cases {
		if c.Failure != "" {
			n++
		}
	}
	return n
}

// XML returns the suite as a document.
func (s *Suite) XML() []byte {
	skipped := 0
	var total time.Duration
	for _, c := range s.Cases {
		total += c.Time
		if c.Failure == "" && c.Skipped != "" {
			skipped++
		}
	}
	var b bytes.Buffer
	counts := fmt.Sprintf(`tests="%d" failures="%d" errors="0" skipped="%d" time="%.6f"`, len(s.Cases), s.Failed(), skipped, total.Seconds())
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	fmt.Fprintf(&b, "<testsuites %s>\n  <testsuite name=%s %s>\n", counts, attribute(s.Name), counts)
	for _, c := range s.Cases {
		c.append(&b)
	}
	b.WriteString("  </testsuite>\n</testsuites>\n")
	return b.Bytes()
}

func (c *Case) append(b *bytes.Buffer) {
	fmt.Fprintf(b, `    <testcase classname=%s name=%s time="%.6f"`, attribute(c.Class), attribute(c.Name), c.Time.Seconds())
	switch {
	case c.Failure != "":
		message, _, _ := strings.Cut(c.Failure, "\n")
		fmt.Fprintf(b, "><failure message=%s>%s</failure></testcase>\n", attribute(message), escaped(c.Failure))
	case c.Skipped != "":
		fmt.Fprintf(b, "><skipped message=%s/></testcase>\n", attribute(c.Skipped))
	default:
		b.WriteString("/>\n")
	}
}

func attribute(text string) string { return `"` + escaped(text) + `"` }

// escaped returns text as XML. What XML cannot hold becomes U+FFFD. (Package encoding/xml would be
// the only reason to link it.)
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '"':
			b.WriteString("&quot;")
		case r == '\n' || r == '\r' || r == '\t':
			fmt.Fprintf(&b, "&#%d;", r)
		case r < ' ' || r == 0xFFFE || r == 0xFFFF:
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// WriteFile writes the suite to a file.
func (s *Suite) WriteFile(path string) error {
	if err := os.WriteFile(path, s.XML(), 0o644); err != nil {
		return fmt.Errorf("writing the JUnit report: %w", err)
	}
	return nil
}
