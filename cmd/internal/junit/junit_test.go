package junit_test

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolman/cmd/internal/junit"
)

func TestXML(t *testing.T) {
	s := junit.Suite{Name: "a <suite>", Cases: []junit.Case{
		{Class: "tools/call", Name: "good", Time: time.Second},
		{Class: "tools/call", Name: "bad \"&\x1b\xff", Failure: "it differs\n  - <a>\n  + b"},
		{Class: "tools/call", Name: "left out", Skipped: "not read-only"},
	}}
	path := filepath.Join(t.TempDir(), "report.xml")
	if err := s.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Suites   []struct {
			Name    string `xml:"name,attr"`
			Skipped int    `xml:"skipped,attr"`
			Time    string `xml:"time,attr"`
			Cases   []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
					Text    string `xml:",chardata"`
				} `xml:"failure"`
				Skipped *struct {
					Message string `xml:"message,attr"`
				} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	suite := got.Suites[0]
	if got.Tests != 3 || got.Failures != 1 || suite.Name != "a <suite>" || suite.Skipped != 1 || suite.Time != "1.000000" {
		t.Errorf("%+v", got)
	}
	bad, left := suite.Cases[1], suite.Cases[2]
	if bad.Name != "bad \"&\uFFFD\uFFFD" || bad.Failure.Message != "it differs" || bad.Failure.Text != "it differs\n  - <a>\n  + b" {
		t.Errorf("%+v", bad)
	}
	if left.Skipped == nil || left.Skipped.Message != "not read-only" || left.Failure != nil || suite.Cases[0].Failure != nil {
		t.Errorf("%+v", left)
	}
	if s.Failed() != 1 || !strings.HasPrefix(string(text), "<?xml") {
		t.Errorf("%s", text)
	}
}
