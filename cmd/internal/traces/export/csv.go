package export

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"

	"toolman/cmd/internal/traces/calls"
)

// CSV returns a line for each call, below a line with the names of the columns.
func CSV(t *Trace, _ Options) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.Write([]string{"run", "call", "time", "from", "to", "method", "name", "target", "status", "code", "verdict", "rule", "error",
		"start_us", "total_us", "own_us", "peer_us", "in_bytes", "out_bytes"})
	for _, run := range t.Runs {
		for _, c := range run.Calls {
			w.Write(csvLine(run, c))
		}
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

func csvLine(run *Run, c *calls.Call) []string {
	from, to := c.Peers()
	line := []string{run.Info.Run, c.Call, c.Time.UTC().Format("2006-01-02T15:04:05.000000Z"), from, to, c.Method, c.Name, c.Target, c.Status, "",
		c.Verdict, c.Rule, c.Error}
	for i, cell := range line {
		line[i] = harmless(cell)
	}
	if c.Code != 0 {
		line[9] = strconv.Itoa(c.Code)
	}
	for _, n := range []int64{c.US, c.TotalUS, c.OwnUS, c.PeerUS, int64(c.In), int64(c.Out)} {
		line = append(line, strconv.FormatInt(n, 10))
	}
	return line
}

// harmless returns a text that no spreadsheet takes for a formula.
func harmless(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
	if text != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(text)[0]) {
		return "'" + text
	}
	return text
}
