package prom

import (
	"mime"
	"strconv"
	"strings"
)

// A Format is a text format.
type Format int

// The formats. OpenMetrics, in version 1.0, is the only one with exemplars.
const (
	Text Format = iota
	OpenMetrics
)

// ContentType returns the media type of the format.
func (f Format) ContentType() string {
	if f == OpenMetrics {
		return "application/openmetrics-text; version=1.0.0; charset=utf-8"
	}
	return "text/plain; version=0.0.4; charset=utf-8"
}

// Negotiate returns the format for a request with these headers Accept: OpenMetrics if that is accepted,
// unless plain text is preferred.
func Negotiate(accept []string) Format {
	wanted := [2]float64{}
	for one := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		kind, params, err := mime.ParseMediaType(one)
		if err != nil {
			continue
		}
		q := 1.0
		if text, given := params["q"]; given {
			q, _ = strconv.ParseFloat(text, 64) // 0 if it is not valid
		}
		switch {
		case kind == "text/plain":
			wanted[Text] = max(wanted[Text], q)
		case kind == "application/openmetrics-text" && readable(params["version"]):
			wanted[OpenMetrics] = max(wanted[OpenMetrics], q)
		}
	}
	if wanted[OpenMetrics] > 0 && wanted[OpenMetrics] >= wanted[Text] {
		return OpenMetrics
	}
	return Text
}

// readable reports whether a client that reads a version of OpenMetrics, "" if it names none, reads 1.0.0.
func readable(version string) bool { return version == "" || version == "0.0.1" || version == "1.0.0" }
