package gateway

import (
	"net/http"

	"toolman/router/httpd/ops"
	"toolman/router/httpd/ops/prom"
)

// noteForwarded is clusters.Front.Forwarded.
func noteForwarded(r *http.Request, replica string) { ops.Forwarded(r.Context(), replica) }

// clusterMetrics returns the metrics of the cluster; none without [cluster].
func (r *replica) clusterMetrics() []prom.Metric {
	if r == nil {
		return nil
	}
	return []prom.Metric{prom.Gauge(r.metrics)}
}

// metrics writes the metrics of the replica.
func (r *replica) metrics(p *prom.Page) {
	st := r.Status()
	up := 0.0
	if st.Engine {
		up = 1
	}
	p.Gauge("toolman_cluster_engine_up", "1 if the engine answers.", up)
	p.Summary("toolman_cluster_engine_seconds", "How long the engine took to renew the lease of this replica.", st.Beats, st.BeatTime)
	p.Gauge("toolman_cluster_replicas", "Replicas that are alive, this one included.", float64(st.Replicas))
	p.Gauge("toolman_cluster_owned", "Sessions and callers that this replica owns.", float64(st.Owned))
	p.Gauge("toolman_cluster_unprotected_sessions", "Sessions that the engine does not know.", float64(st.Unprotected))
	p.Begin("toolman_cluster_forwarded_total", "counter", "Requests that were forwarded to the owner of a caller, or of a session.", "why")
	p.Value(float64(st.Forwarded.Callers), "caller")
	p.Value(float64(st.Forwarded.Sessions), "session")
	p.Summary("toolman_cluster_forward_seconds", "How long forwarded requests took, streams included.", st.Forwarded.Callers+st.Forwarded.Sessions, st.ForwardTime)
	p.Count("toolman_cluster_adopted_total", "Sessions that this replica has adopted.", st.Adopted)
	p.Count("toolman_cluster_broken_total", "Forwarded requests whose replica was gone before the response ended.", st.Broken)
}
