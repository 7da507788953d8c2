package prom

import (
	"mime"
	"strconv"
	"strings"
)

// A Format is how a page is written.
type Format int

// The formats. Of OpenMetrics it is version 1.0, and only it has exemplars.
const (
	Text Format = iota
	OpenMetrics
)

// ContentType is the format's media type.
func (f Format) ContentType() string {
	if f == OpenMetrics {
		return "application/openmetrics-text; version=1.0.0; charset=utf-8"
	}
	return "text/plain; version=0.0.4; charset=utf-8"
}

// Negotiate returns the format that somebody wants who sends these headers Accept: OpenMetrics if
// that is named, and plain text is not preferred to it.
func Negotiate(accept []string) Format {
	wanted := [2]float64{}
	for one := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		kind, params, err := mime.ParseMediaType(one)
		if err != nil {
			continue
		}
		q := 1.0
		if text, given := params["q"]; given {
			q, _ = strconv.ParseFloat(text, 64) // 0 is what cannot be read
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

// readable reports whether who can read a version of OpenMetrics can read 1.0.0, too, which is also
// what those get who name none.
func readable(version string) bool { return version == "" || version == "0.0.1" || version == "1.0.0" }
