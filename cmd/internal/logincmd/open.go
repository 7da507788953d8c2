package logincmd

import (
	"net/url"

	"github.com/cli/browser"
)

// open opens a URL in the user's browser, which gets it as one argument and without a shell. What
// the browser prints is for nobody: it would hide what login says. It may return when the browser
// ends.
func open(at string) error {
	browser.Stdout, browser.Stderr = nil, nil
	return browser.OpenURL(at)
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return u.Host
}
