package stdio

import "testing"

func TestATokenIsNotSentInTheClearUnnoticed(t *testing.T) {
	for url, want := range map[string]bool{
		"https://example.com": false, "http://localhost:1/": false, "http://127.0.0.1/": false, "http://[::1]:8/": false,
		"http://example.com/": true, "http://10.0.0.1/": true,
	} {
		if got := exposed(url); got != want {
			t.Errorf("%s: %v", url, got)
		}
	}
}
