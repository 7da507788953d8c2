// Package prom counts events and times, and writes them in the formats of Prometheus: text (0.0.4)
// or, for clients that want exemplars, OpenMetrics 1.0.
//
// It is the small part of a metrics library that a gateway needs. A library would cost every user:
// prometheus/client_golang 1.25 makes the binary 2.9 MB larger, and each start takes 1.6 ms and 2.5
// MB of memory more, even if no metric is ever read.
//
// A [Counter] or [Histogram] has a series for each set of label values, at most [MaxSeries].
// Further ones are counted together, under [Other]. Counting never waits for readers, and allocates
// only for values that it sees for the first time.
package prom
