package diagnosis

import (
	"fmt"
	"os"
	"strings"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/upstream"
)

// A Finding is one thing that is wrong, or that clients may have trouble with.
type Finding struct {
	ID      string `json:"id"`
	Server  string `json:"server,omitempty"` // "" if it is not about a server
	Client  string `json:"client,omitempty"` // the ID of an MCP client; "" if it is not about one
	Level   Level  `json:"level"`
	Summary string `json:"summary"`
	Fix     string `json:"fix"` // the command or the line of the configuration that helps
}

// A Level says how bad a finding is.
type Level string

// The levels. With a Problem, something that is configured cannot be used.
const (
	Problem Level = "problem"
	Note    Level = "note"
)

// A Server is what is known of a server.
type Server struct {
	*config.Server
	Status upstream.Status // without secrets
	File   string          // the configuration, as messages name it
}

// Of returns what is wrong with a server, apart from its items.
func Of(s *Server) []Finding {
	var all []Finding
	switch s.Status.State {
	case upstream.Gone:
		all = s.gone()
	case upstream.Ready:
		all = s.ready()
	}
	if n := s.Status.Junk; n > 0 && s.Status.State == upstream.Ready {
		all = append(all, s.note("stray-output", "it wrote "+cli.Count(n, "line")+" to its standard output that are no messages; toolman passes over them",
			"have it log to standard error; a wrapper or the flag for its log may do so"))
	}
	return all
}

// at returns the place of the server in the configuration.
func (s *Server) at() string { return fmt.Sprintf("%s:%d", s.File, s.Line) }

// write returns a line of the configuration, and where it belongs.
func (s *Server) write(key, value string) string {
	if strings.HasSuffix(s.File, ".json") {
		return fmt.Sprintf("write %q: %s into the server at %s", key, value, s.at())
	}
	return fmt.Sprintf("write %s = %s into the server at %s", key, value, s.at())
}

// writeTable returns a line of the configuration with a table of names and values.
func (s *Server) writeTable(key string, pairs ...[2]string) string {
	var members []string
	for _, p := range pairs {
		if strings.HasSuffix(s.File, ".json") {
			members = append(members, fmt.Sprintf("%q: %q", p[0], p[1]))
		} else {
			members = append(members, fmt.Sprintf("%s = %q", p[0], p[1]))
		}
	}
	return s.write(key, "{ "+strings.Join(members, ", ")+" }")
}

func (s *Server) problem(id, summary, fix string) Finding {
	return Finding{ID: id, Server: s.Status.Name, Level: Problem, Summary: sanitize.Line(summary), Fix: sanitize.Line(fix)}
}

func (s *Server) note(id, summary, fix string) Finding {
	f := s.problem(id, summary, fix)
	f.Level = Note
	return f
}

// ready returns what is wrong with a server that works.
func (s *Server) ready() (all []Finding) {
	st := &s.Status
	for k, why := range st.Unread {
		if why != "" {
			all = append(all, s.problem("list-unread", string(mcpwire.Kind(k).ListMethod())+" could not be read whole: "+why,
				"the server has to answer it; update the server, or tell its authors"))
		}
	}
	offered := 0
	for _, of := range st.Entries {
		offered += len(of)
	}
	if offered == 0 && all == nil { // and all lists were read
		all = append(all, s.note("offers-nothing", "it has no tools, resources or prompts",
			"it may want credentials or other settings; see its documentation, and write them into env or args at "+s.at()))
	}
	if st.Took > s.StartTimeout {
		fix := s.write("start_timeout", seconds(st.Took))
		if s.packageOf() != "" {
			fix = "nothing, if it downloaded its package now and the next start is faster; else " + fix
		}
		all = append(all, s.note("slow-start", fmt.Sprintf("it needed %.1f s to start, and lists of tools wait %s for it", st.Took.Seconds(), s.StartTimeout), fix))
	}
	if st.Starts > 1 && s.Era == "auto" && st.Era() == mcpwire.Legacy.String() {
		all = append(all, s.note("wrong-era", "it ends when it is asked server/discover, and is started a second time", s.write("era", `"legacy"`)))
	}
	return all
}

// gone returns why a server is gone.
func (s *Server) gone() []Finding {
	if s.Missing != nil {
		return s.missing()
	}
	for _, look := range []func() (Finding, bool){s.ofSpawn, s.ofRemote, s.ofOutput, s.ofEra, s.ofTime} {
		if f, ok := look(); ok {
			return []Finding{f}
		}
	}
	return []Finding{s.ended()}
}

// missing returns a finding for each variable and file that the server refers to.
func (s *Server) missing() (all []Finding) {
	for _, p := range s.Missing {
		id := "variable-not-set"
		if strings.Contains(p.Msg, "cannot be read: ") {
			id = "file-unreadable"
		}
		all = append(all, s.problem(id, fmt.Sprintf("%s (%s:%d)", p.Msg, s.File, p.Line), p.Hint))
	}
	return all
}

// ofTime explains a server that did not answer.
func (s *Server) ofTime() (Finding, bool) {
	st := &s.Status
	if !strings.Contains(st.Problem, "no answer within ") || !strings.Contains(st.Problem, "its start_timeout") {
		return Finding{}, false
	}
	summary := "it did not answer initialize within " + st.Patience.String()
	fix := "if its command does start an MCP server, " + s.write("start_timeout", seconds(st.Patience/3))
	if pkg := s.packageOf(); pkg != "" {
		fix = "its package " + pkg + " may still be on its way: try again, since what is downloaded stays; " + fix
	}
	if st.Stderr == "" && st.Junk == 0 {
		summary += ", and wrote nothing"
	} else if words := lastLine(st.Stderr); words != "" {
		summary += "; it last wrote: " + words
	}
	return s.problem("start-too-slow", summary, fix), true
}

// seconds returns a value of start_timeout that is longer than d.
func seconds(d time.Duration) string { return fmt.Sprintf(`"%ds"`, int(d.Seconds()*1.5)+5) }

// ended explains a server that nothing else explains: by its exit code and its last output.
func (s *Server) ended() Finding {
	st := &s.Status
	summary := st.Problem
	if words := lastLine(st.Stderr); words != "" {
		summary += "; it last wrote: " + words
	}
	id, fix := "ended", "run the command of "+s.at()+" in a terminal, where it says more"
	switch {
	case st.Junk > 0 && st.Result.ProtocolVersion == "":
		id, summary = "not-mcp", "it wrote "+cli.Count(st.Junk, "line")+" that are no messages of MCP: "+summary
		fix = "check that the command of " + s.at() + " starts an MCP server on standard input and output"
	case strings.HasPrefix(st.Problem, "it was killed"):
		id, fix = "killed", "look for what killed it, such as a limit of memory (dmesg), or run the command of "+s.at()+" in a terminal"
	case strings.HasSuffix(st.Problem, "exit status 0"):
		id, fix = "ended-at-once", "it ended as if it were done: check that its command starts an MCP server on standard input and output, and add the argument that does so, often stdio"
	case !strings.HasPrefix(st.Problem, "it ended"):
		id, fix = "not-mcp", "check that the command of "+s.at()+" starts an MCP server, and update it"
	}
	return s.problem(id, summary, fix)
}

const lastOutput = 300 // characters of a line of output

// lastLine returns the last line of a server's output that is not blank.
func lastLine(text string) string {
	last := ""
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			last = line
		}
	}
	return sanitize.Cut(last, lastOutput)
}

// isSet reports whether toolman itself has a variable.
func isSet(name string) bool { return os.Getenv(name) != "" }
