package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"

	"toolman/router/httpd/bridge/calllog"
)

// logsTime is how long GET /logs waits for the other replicas.
const logsTime = time.Second

// localKey is the key of the context of a request of another replica that is for this one alone.
type localKey struct{}

// otherLogs asks the other replicas what a client may read in their logs. missing are those that
// did not answer.
func (p *replica) otherLogs(r *http.Request) (logs [][]calllog.Entry, missing []string) {
	if r.Context().Value(localKey{}) != nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), logsTime)
	defer cancel()
	head := headOf(r)
	head.Local = true
	p.Each(ctx, r.URL.RequestURI(), head, func(replica string, status int, body []byte, err error) {
		var log []calllog.Entry
		if err == nil && status == http.StatusOK {
			err = json.Unmarshal(body, &log)
		}
		if err != nil || status != http.StatusOK {
			p.log.Warn("the log of calls of another replica cannot be read", zap.String("other", replica), zap.Int("status", status), zap.NamedError("err", err))
			missing = append(missing, replica)
			return
		}
		logs = append(logs, log)
	})
	slices.Sort(missing)
	return logs, missing
}
