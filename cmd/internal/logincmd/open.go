package logincmd

import (
	"io"
	"net/url"

	"github.com/cli/browser"
)

// open opens a URL in the user's browser, which gets it as one argument and without a shell. What
// the browser prints goes to out: standard output is for the URL. It may return
// when the browser ends.
func open(at string, out io.Writer) error {
	browser.Stdout, browser.Stderr = out, out
	return browser.OpenURL(at)
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return u.Host
}
