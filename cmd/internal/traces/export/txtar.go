package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
)

// Txtar returns the last run with messages as a transcript (package fixtures/transcript): the
// configuration, what each server offered and answered, and the dialog. IDs and request states that
// toolman makes itself are numbers.
func Txtar(t *Trace, _ Options) ([]byte, error) {
	run := &Run{Info: &trace.Session{}}
	for _, one := range t.Runs {
		if slices.ContainsFunc(one.Records, func(r *trace.Record) bool { return r.Type == trace.TypeFrame }) {
			run = one
		}
	}
	w := &transcript{run: run, servers: map[string]*server{}, made: map[string][]string{},
		idMember:    regexp.MustCompile(`("(?:id|requestId|progressToken)":)(\d+)`),
		stateMember: regexp.MustCompile(`("requestState":")([\w-]{76})`)}
	for _, r := range ordered(run.Records) {
		w.frame(r)
	}
	return w.format(), nil
}

// A transcript is a txtar file that is being written.
type transcript struct {
	run     *Run
	servers map[string]*server // by the peer's name
	order   []string           // of the servers
	made    map[string][]string
	dialog  []line

	idMember, stateMember *regexp.Regexp // fields: package variables would be made at each start of toolman
}

type line struct {
	peer, arrow, text string
}

// A server is what one server offered and did.
type server struct {
	namespace           string
	offers, steps       []string
	capabilities, eras  string
	version             string
	scripted, different map[string]bool
	replies             map[string]string
}

// client is the name of the client in a dialog.
const client = "client"

func (w *transcript) server(name string) *server {
	s := w.servers[name]
	if s == nil {
		s = &server{namespace: strings.ReplaceAll(word(name), ".", "-"), scripted: map[string]bool{}, different: map[string]bool{}, replies: map[string]string{}}
		w.servers[name], w.order = s, append(w.order, name)
	}
	return s
}

// word returns a name as that of a server may be.
func word(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_.-", r)) {
			return r
		}
		return '-'
	}, name)
	return cmp.Or(strings.Trim(name, "-"), "server")
}

// oneLine returns a text without line breaks: a line of it could begin another file.
func oneLine(text string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(text) }

func (w *transcript) frame(r *trace.Record) {
	peer, text := client, oneLine(text(r))
	if r.Leg == trace.Upstream {
		peer = word(r.Peer)
	}
	switch {
	case r.Leg == trace.Upstream && r.Dir == trace.In && r.Kind == trace.Response:
		w.answer(w.server(r.Peer), r)
	case r.Leg == trace.Client && w.run.Info.Tap != "" && r.Dir == trace.Out && r.Kind == trace.Response:
		w.server(w.run.Info.Tap).namespace = ""
		w.answer(w.server(w.run.Info.Tap), r)
	}
	if w.run.Info.Tap != "" && r.Dir == trace.Out {
		return // who plays it gets what toolman says instead
	}
	w.note(peer, r)
	arrow := "<"
	if r.Dir == trace.In {
		arrow = ">"
	}
	w.dialog = append(w.dialog, line{peer, arrow, w.hide(peer, text)})
}

// answer records what a server answers.
func (w *transcript) answer(s *server, r *trace.Record) {
	var m struct {
		Result map[string]json.RawMessage
		Error  json.RawMessage
	}
	if json.Unmarshal(r.Msg, &m) != nil {
		return
	}
	list := func(word, member string) {
		var items []json.RawMessage
		json.Unmarshal(m.Result[member], &items)
		for _, item := range items {
			if offer := word + " " + string(item); !slices.Contains(s.offers, offer) {
				s.offers = append(s.offers, offer)
			}
		}
	}
	switch mcpwire.Method(r.Method) {
	case mcpwire.Initialize:
		s.capabilities = string(m.Result["capabilities"])
		json.Unmarshal(m.Result["protocolVersion"], &s.version)
	case mcpwire.Discover:
		s.eras, s.capabilities = "modern", string(m.Result["capabilities"])
	case mcpwire.ToolsList:
		list("tool", "tools")
	case mcpwire.ResourcesList:
		list("resource", "resources")
	case mcpwire.TemplatesList:
		list("template", "resourceTemplates")
	case mcpwire.PromptsList:
		list("prompt", "prompts")
	case mcpwire.ToolsCall, mcpwire.PromptsGet, mcpwire.ResourcesRead:
		step := "reply " + string(memberOf(r.Msg, "result"))
		if m.Error != nil {
			step = "fail " + string(m.Error)
		}
		on := oneLine(strings.TrimSpace(r.Method + " " + r.Name))
		if was, known := s.replies[on]; known {
			s.different[on] = s.different[on] || was != step
			return
		}
		s.replies[on] = step
		s.steps = append(s.steps, "on "+on, "\t"+step)
	}
}

// memberOf returns a member of a message as it is.
func memberOf(msg []byte, name string) []byte {
	for key, value := range jsonrpc.Members(msg, jsonrpc.Span{Lo: 0, Hi: len(msg)}) {
		if key == name {
			return msg[value.Lo:value.Hi]
		}
	}
	return nil
}

const states = "requestState"

// note records the IDs and request states that toolman makes itself.
func (w *transcript) note(peer string, r *trace.Record) {
	switch {
	case r.Dir != trace.Out:
	case r.Kind == trace.Request:
		w.made[peer] = append(w.made[peer], string(r.ID))
	case r.Leg == trace.Client:
		if state := w.stateMember.FindStringSubmatch(text(r)); state != nil {
			w.made[states] = append(w.made[states], state[2])
		}
	}
}

// hide puts numbers in place of them.
func (w *transcript) hide(peer, text string) string {
	number := func(member *regexp.Regexp, text, of string) string {
		return member.ReplaceAllStringFunc(text, func(all string) string {
			parts := member.FindStringSubmatch(all)
			if i := slices.Index(w.made[of], parts[2]); i >= 0 {
				return parts[1] + "<" + strconv.Itoa(i+1) + ">"
			}
			return all
		})
	}
	return number(w.stateMember, number(w.idMember, text, peer), states)
}

func (w *transcript) format() []byte {
	w.namespaces()
	var out strings.Builder
	fmt.Fprintf(&out, "A session of %s, recorded %s. Say here what it shows.\n", oneLine(w.run.self()), w.started())
	for _, name := range w.order {
		for _, on := range slices.Sorted(maps.Keys(w.servers[name].different)) {
			if w.servers[name].different[on] {
				fmt.Fprintf(&out, "%s answered %s in several ways; the script has the first.\n", word(name), on)
			}
		}
	}
	out.WriteString("-- tools.toml --\nactive_toolsets = [\"*\"]\n")
	for _, name := range w.order {
		fmt.Fprintf(&out, "\n[[servers]]\nname = %q\nnamespace = %q\ncommand = \"$FAKE %s.server\"\n", word(name), w.servers[name].namespace, word(name))
	}
	for _, name := range w.order {
		s := w.servers[name]
		fmt.Fprintf(&out, "-- %s.server --\n", word(name))
		for _, one := range [][2]string{{"capabilities", s.capabilities}, {"version", s.version}, {"eras", s.eras}} {
			if one[1] != "" {
				fmt.Fprintf(&out, "%s %s\n", one[0], oneLine(one[1]))
			}
		}
		for _, text := range slices.Concat(s.offers, s.steps) {
			out.WriteString(text + "\n")
		}
	}
	out.WriteString("-- dialog --\n")
	width := len(client)
	for _, l := range w.dialog {
		width = max(width, len(l.peer))
	}
	for _, l := range w.dialog {
		fmt.Fprintf(&out, "%-*s %s %s\n", width, l.peer, l.arrow, l.text)
	}
	return []byte(out.String())
}

func (w *transcript) started() string {
	if w.run.First == nil {
		return "at no time"
	}
	return w.run.First.Time.UTC().Format("2006-01-02")
}

// namespaces finds the namespaces of the servers in what clients call their tools, and puts the
// servers into the order of the configuration.
func (w *transcript) namespaces() {
	for _, c := range w.run.Calls {
		prefix, ok := strings.CutSuffix(c.Name, c.Target)
		_, to := c.Peers()
		if s := w.servers[to]; s != nil && ok && c.Target != "" && c.Method == string(mcpwire.ToolsCall) && c.First.Leg == trace.Client {
			s.namespace = strings.TrimSuffix(prefix, "_")
		}
	}
	place := func(name string) int {
		return slices.IndexFunc(w.run.Info.Upstreams, func(u trace.Server) bool { return u.Name == w.servers[name].namespace || u.Name == name })
	}
	slices.SortStableFunc(w.order, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
}
