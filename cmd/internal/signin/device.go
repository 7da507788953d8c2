package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/logins"
	"toolman/mcpwire/sanitize"
	"toolman/mcpwire/streamhttp/credential"
)

const (
	pollTime = 5 * time.Second // between requests, unless the server says otherwise (RFC 8628, 3.2)
	maxPoll  = time.Minute
)

// A device is what the user needs to approve a login on another device.
type device struct {
	code     string
	userCode string
	uri      string
	complete string // with the code in it; may be ""
	poll     time.Duration
	life     time.Duration
}

// device logs in on another device (RFC 8628).
func (f *Flow) device(ctx context.Context) (*logins.Record, error) {
	c, err := f.chooseClient(ctx, "")
	if err != nil {
		return nil, err
	}
	if err := f.prepare(ctx, c); err != nil {
		return nil, err
	}
	d, err := f.askDevice(ctx, c)
	if err != nil {
		return nil, err
	}
	f.Secret(d.code)
	f.announce(d.uri)
	f.Say(fmt.Sprintf("%s: open this URL on any device, and enter the code %s; it is valid for %v", f.Name, d.userCode, d.life))
	f.Print(d.uri)
	if d.complete != "" {
		f.Say(f.Name + ": this URL has the code in it: " + d.complete)
	}
	return f.poll(ctx, c, d)
}

// askDevice asks for a code.
func (f *Flow) askDevice(ctx context.Context, c *logins.Client) (*device, error) {
	form := url.Values{}
	if len(f.scopes) > 0 {
		form.Set("scope", strings.Join(f.scopes, " "))
	}
	if f.resource != "" {
		form.Set("resource", f.resource)
	}
	failed := func(text string) error {
		return cli.Failed(fmt.Errorf("the authorization server %s gives no code for a device: %s", sanitize.Cut(f.as.Issuer, maxShown), text), "log in without --device")
	}
	doc, err := f.client(c).Post(ctx, f.as.Device, form)
	if refused, ok := errors.AsType[*credential.Refused](err); ok && refused.InvalidClient() {
		f.forget(ctx, c)
	}
	if err != nil {
		return nil, failed(words(err))
	}
	var numbers struct {
		Interval  float64 `json:"interval"`
		ExpiresIn float64 `json:"expires_in"`
	}
	for key, n := range map[string]*float64{"interval": &numbers.Interval, "expires_in": &numbers.ExpiresIn} {
		if doc.Has(key) && json.Unmarshal(doc[key], n) != nil {
			return nil, failed(key + " is not a number")
		}
	}
	d := &device{code: doc.Text("device_code"), userCode: sanitize.Cut(doc.Text("user_code"), 64), uri: doc.Text("verification_uri"), complete: doc.Text("verification_uri_complete")}
	if d.poll = pollTime; doc.Has("interval") {
		d.poll = time.Duration(min(max(numbers.Interval, 1), maxPoll.Seconds()) * float64(time.Second))
	}
	d.life = min(f.Timeout, time.Duration(min(max(numbers.ExpiresIn, 1), 3600)*float64(time.Second)))
	if d.code == "" || d.userCode == "" || d.uri == "" {
		return nil, failed("its answer has no device_code, user_code or verification_uri")
	}
	for _, at := range []string{d.uri, d.complete} {
		u, err := url.Parse(at)
		if at != "" && (err != nil || checkOpened(u) != nil || at != u.String()) {
			return nil, failed("it names " + sanitize.Quoted(at, maxShown) + " for the login, which is not a URL of https")
		}
	}
	return d, nil
}

// poll asks for tokens until the user has approved the login, or it is over.
func (f *Flow) poll(ctx context.Context, c *logins.Client, d *device) (*logins.Record, error) {
	waiting, cancel := context.WithTimeout(ctx, d.life)
	defer cancel()
	of := f.client(c)
	for {
		select {
		case <-time.After(d.poll):
		case <-waiting.Done():
			if ctx.Err() != nil {
				return nil, cli.Failed(errors.New("the login was interrupted"), "run the command again")
			}
			return nil, cli.Failed(fmt.Errorf("nobody has approved the login within %v", d.life), "run the command again")
		}
		token, err := of.Token(ctx, url.Values{"grant_type": {grantDevice}, "device_code": {d.code}})
		if err == nil {
			return f.save(ctx, c, token)
		}
		refused, _ := errors.AsType[*credential.Refused](err)
		switch {
		case refused != nil && refused.Code == "authorization_pending":
		case refused != nil && refused.Code == "slow_down":
			d.poll = min(d.poll+5*time.Second, maxPoll)
		case refused != nil && refused.Code == "access_denied":
			return nil, cli.Failed(fmt.Errorf("%s refuses the login: access_denied", sanitize.Cut(f.as.Issuer, maxShown)), "somebody denied the login; to log in, run the command again and approve it")
		case refused != nil && refused.Code == "expired_token":
			return nil, cli.Failed(errors.New("the code has expired before somebody approved the login"), "run the command again")
		case credential.IsPassing(err):
			d.poll = min(2*d.poll, maxPoll) // RFC 8628, 3.5
		default:
			return nil, f.noTokens(ctx, c, err)
		}
	}
}
