package logincmd

import (
	"io"
	"net/url"
	"time"

	"github.com/cli/browser"
)

// openTime is how long a browser may take to say that it cannot start. Some programs end when they
// have told a browser of the URL, others when the browser ends.
const openTime = 3 * time.Second

// open opens a URL in the user's browser, which gets it as one argument and without a shell. What
// the browser prints goes to out: standard output is for the URL.
func open(at string, out io.Writer) error {
	browser.Stdout, browser.Stderr = out, out
	failed := make(chan error, 1)
	go func() { failed <- browser.OpenURL(at) }()
	select {
	case err := <-failed:
		return err
	case <-time.After(openTime):
		return nil
	}
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return u.Host
}
