package export

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/calls"
	"toolman/jsonrpc/trace"
)

// The parts of an HTTP archive (HAR 1.2, http://www.softwareishard.com/blog/har-12-spec).
type (
	harLog struct {
		Version string     `json:"version"`
		Creator harName    `json:"creator"`
		Pages   []harPage  `json:"pages"`
		Entries []harEntry `json:"entries"`
	}
	harName struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	harPage struct {
		Started string   `json:"startedDateTime"`
		ID      string   `json:"id"`
		Title   string   `json:"title"`
		Timings struct{} `json:"pageTimings"`
	}
	harEntry struct {
		Page     string      `json:"pageref"`
		Started  string      `json:"startedDateTime"`
		Time     float64     `json:"time"` // milliseconds
		Request  harRequest  `json:"request"`
		Response harResponse `json:"response"`
		Cache    struct{}    `json:"cache"`
		Timings  harTimings  `json:"timings"`
		Comment  string      `json:"comment,omitempty"`
		Call     harCall     `json:"_toolman"`
	}
	harRequest struct {
		Method string   `json:"method"`
		URL    string   `json:"url"`
		HTTP   string   `json:"httpVersion"`
		Empty           // what MCP does not have
		Query  []string `json:"queryString"`
		Post   harBody  `json:"postData"`
		Header int      `json:"headersSize"`
		Size   int      `json:"bodySize"`
	}
	harResponse struct {
		Status   int     `json:"status"`
		Text     string  `json:"statusText"`
		HTTP     string  `json:"httpVersion"`
		Empty            // what MCP does not have
		Content  harBody `json:"content"`
		Redirect string  `json:"redirectURL"`
		Header   int     `json:"headersSize"`
		Size     int     `json:"bodySize"`
	}
	// Empty are lists that an entry must have.
	Empty struct {
		Cookies []string `json:"cookies"`
		Headers []string `json:"headers"`
	}
	harBody struct {
		Size *int   `json:"size,omitempty"`
		MIME string `json:"mimeType"`
		Text string `json:"text"`
	}
	harTimings struct {
		Blocked float64 `json:"blocked"` // in toolman itself
		Send    float64 `json:"send"`
		Wait    float64 `json:"wait"` // for the server
		Receive float64 `json:"receive"`
	}
	harCall struct {
		Call    string `json:"call,omitempty"`
		From    string `json:"from"`
		To      string `json:"to"`
		Method  string `json:"method"`
		Name    string `json:"name,omitempty"`
		Target  string `json:"target,omitempty"`
		Status  string `json:"status"`
		Code    int    `json:"code,omitempty"`
		Verdict string `json:"verdict,omitempty"`
		Rule    string `json:"rule,omitempty"`
	}
)

const (
	harTime = "2006-01-02T15:04:05.000Z07:00"
	noHTTP  = "JSON-RPC/2.0"
)

// HAR returns the calls as an HTTP archive, with a page for each run.
func HAR(t *Trace, o Options) ([]byte, error) {
	log := harLog{Version: "1.2", Creator: harName{calls.Toolman, o.Version}, Pages: []harPage{}, Entries: []harEntry{}}
	for i, run := range t.Runs {
		page := harPage{Started: stamp(run.First.Time), ID: "run_" + strconv.Itoa(i+1), Title: run.self()}
		if run.Info.Run != "" {
			page.Title = run.self() + " " + run.Info.Run
		}
		log.Pages = append(log.Pages, page)
		for _, c := range run.Calls {
			log.Entries = append(log.Entries, harOf(page.ID, c))
		}
	}
	return cli.IndentedJSON(map[string]any{"log": log}), nil
}

func harOf(page string, c *calls.Call) harEntry {
	from, to := c.Peers()
	none := Empty{Cookies: []string{}, Headers: []string{}}
	e := harEntry{Page: page, Started: stamp(c.Time), Time: ms(c.TotalUS), Comment: c.Error,
		Request: harRequest{Method: "POST", URL: harURL(to, c.Method, c.Name), HTTP: noHTTP, Empty: none, Query: []string{},
			Post: harBody{MIME: "application/json", Text: text(c.First)}, Header: -1, Size: c.First.Bytes},
		Response: harResponse{Status: harStatus(c), Text: c.Status, HTTP: noHTTP, Empty: none, Content: harBody{Size: new(int), MIME: "application/json"}, Header: -1, Size: -1},
		Timings:  harTimings{Blocked: ms(c.OwnUS), Wait: ms(c.TotalUS - c.OwnUS)},
		Call: harCall{Call: c.Call, From: from, To: to, Method: c.Method, Name: c.Name, Target: c.Target, Status: c.Status, Code: c.Code,
			Verdict: c.Verdict, Rule: c.Rule},
	}
	if r := response(c); r != nil {
		e.Response.Size, e.Response.Content.Text, *e.Response.Content.Size = r.Bytes, text(r), r.Bytes
	}
	return e
}

// harURL returns a URL for a call: mcp://SERVER/METHOD/NAME.
func harURL(to, method, name string) string {
	escape := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
	u := "mcp://" + escape(to)
	for part := range strings.SplitSeq(method, "/") {
		u += "/" + escape(part)
	}
	if name != "" {
		u += "/" + escape(name)
	}
	return u
}

// harStatus returns the status of HTTP that is most like the outcome of a call.
func harStatus(c *calls.Call) int {
	switch {
	case c.Status == trace.StatusPending:
		return 0
	case c.Verdict == "denied" || c.Verdict == "held":
		return 403
	case c.Verdict == "unknown":
		return 404
	case c.Verdict == "inactive" || c.Verdict == "ambiguous":
		return 409
	case c.Status == trace.StatusCancelled:
		return 499
	case c.Status == trace.StatusGone:
		return 502
	case c.Status == trace.StatusTimeout:
		return 504
	case c.Failed():
		return 500
	}
	return 200
}

func stamp(t time.Time) string { return t.UTC().Format(harTime) }
