// Package prom keeps counts and times and writes them as Prometheus reads them: as
// text (format 0.0.4) or, to whoever wants exemplars, OpenMetrics 1.0.
//
// It does the little of a metrics library that a gateway needs, because a library is
// paid for by every program that has it in: prometheus/client_golang 1.25 makes the
// binary 2.9 MB larger, and at start takes 1.6 ms and 2.5 MB of memory, also where nobody ever
// asks for a metric.
//
// A [Counter] or [Histogram] has a series for each set of values of its labels that
// was seen, at most [MaxSeries] of them: the next are counted together, under
// [Other]. Counting never waits for whoever reads, and allocates only when it sees values for
// the first time.
package prom
