package demo

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// opening says what is to be seen.
func (s *screen) opening(program string) {
	s.paragraph(`toolman is one MCP server in front of many. Here it runs in front of two small ones that are built in, notes and
		calc, and this demo is its client. Its tools.toml:`)
	fmt.Fprintln(s.out)
	s.quote(configText(program))
	fmt.Fprintln(s.out)
	s.paragraph(`The messages are as toolman --trace shows them: > is into toolman, < out of it. "jsonrpc":"2.0" is left out, and …
		stands for what does not fit.`)
}

// closing says what to do next.
func (s *screen) closing(name string) {
	fmt.Fprintf(s.out, "\n%s\n", s.paint(bold, "All of it was as expected. What next:"))
	for _, next := range [...]struct{ what, why string }{
		{name + " demo --serve", "notes and calc as one MCP server, to be tried in your own client"},
		{name + " demo --keep", "keeps the trace of a demo; " + name + " trace shows what took how long"},
		{name + " check", "starts what your own tools.toml names, and says how it is"},
		{"README.md", "your client's configuration, every key of tools.toml"},
	} {
		fmt.Fprintf(s.out, "%s%-*s  %s\n", indent, len(name+" demo --serve"), next.what, next.why)
	}
}

// kept says where everything is.
func (s *screen) kept(name, dir string) {
	fmt.Fprintf(s.out, "\nKept in %s: tools.toml, the log, and the trace. To read it:\n   %s trace %s\n", dir, name, filepath.Join(dir, traceName))
}

// failed shows the end of the gateway's log.
func (s *screen) failed(log *os.File) {
	const most = 4 << 10
	info, err := log.Stat()
	if err != nil {
		return // there is the step's error to tell
	}
	text := make([]byte, min(info.Size(), most))
	if _, err := log.ReadAt(text, info.Size()-int64(len(text))); err != nil && err != io.EOF {
		return
	}
	fmt.Fprintln(s.out)
	s.paragraph("The gateway's log:")
	s.quote(string(text))
}
