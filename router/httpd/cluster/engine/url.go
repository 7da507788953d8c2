package engine

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valkey-io/valkey-go"
)

// parse makes the library's options, and returns the URL's password. The library could read URLs
// itself, but accepts more than it should here, and its errors quote what may be secret.
func parse(o Options) (valkey.ClientOption, string, error) {
	fail := func(format string, args ...any) (valkey.ClientOption, string, error) {
		return valkey.ClientOption{}, "", fmt.Errorf("[cluster] engine: "+format, args...)
	}
	scheme, rest, found := strings.Cut(o.URL, "://")
	secure := scheme == "valkeys" || scheme == "rediss"
	switch {
	case !found:
		return fail("this is not a URL; write for example rediss://USER:PASSWORD@HOST:6379")
	case !secure && scheme != "valkey" && scheme != "redis":
		return fail("the URL must begin with valkeys:// or rediss://, or, without TLS, valkey:// or redis://")
	}
	// A password is often inserted as it is. It ends at the last @.
	login, rest := cutLast(rest, "@")
	user, password, _ := strings.Cut(login, ":")
	user, password = unescape(user), unescape(password)
	u, err := url.Parse("//" + rest)
	if err == nil {
		_, err = url.ParseQuery(u.RawQuery)
	}
	if err != nil || u.Fragment != "" {
		return fail("the URL cannot be read after the password; write for example rediss://USER:PASSWORD@HOST:6379/0?addr=HOST2:6379")
	}
	option := valkey.ClientOption{
		Username: user, Password: password, Dialer: net.Dialer{Timeout: 500 * time.Millisecond}, ConnWriteTimeout: time.Second,
		ReadBufferEachConn: 16 << 10, WriteBufferEachConn: 16 << 10, RingScaleEachConn: 8, PipelineMultiplex: -1, BlockingPipeline: -1,
		ClientSetInfo: valkey.DisableClientSetInfo, DisableCache: true, DisableRetry: true,
		AlwaysPipelining: true, // calls that are given up do not end the connection
	}
	if option.InitAddress, err = addresses(u); err != nil {
		return fail("%w", err)
	}
	if db := strings.Trim(u.Path, "/"); db != "" {
		if option.SelectDB, err = strconv.Atoi(db); err != nil || option.SelectDB < 0 {
			return fail("the path of the URL is not the number of a database")
		}
	}
	query := u.Query()
	for name := range query {
		switch name {
		case "skip_verify":
			return fail("skip_verify is not supported, because anyone could pretend to be the engine; name the certificates to trust in engine_ca")
		case "addr", "master_set":
		default:
			return fail("the URL has an unknown parameter %.40q; known are addr (nodes of a Valkey Cluster, or more Sentinels) and master_set (of Sentinel)", name)
		}
	}
	option.Sentinel.MasterSet = query.Get("master_set")
	option.Sentinel.TopologyRefreshInterval = 5 * time.Second
	option.Sentinel.Dialer = option.Dialer
	option.ForceSingleClient = len(option.InitAddress) == 1 && option.Sentinel.MasterSet == ""
	switch {
	case secure:
		if option.TLSConfig, err = trust(o.CA); err != nil {
			return valkey.ClientOption{}, "", err
		}
		option.Sentinel.TLSConfig = option.TLSConfig
	case o.CA != "":
		return valkey.ClientOption{}, "", errors.New("[cluster] engine_ca: the URL in engine is without TLS; write valkeys:// or rediss://")
	case !o.Plaintext:
		if slices.ContainsFunc(option.InitAddress, func(a string) bool { return !isLoopback(a) }) {
			return fail("%s:// is without TLS, and the engine is on another machine; write %ss://, or set engine_plaintext = true if nobody else can reach that network", scheme, scheme)
		}
	}
	option.DialCtxFn = func(ctx context.Context, address string, d *net.Dialer, config *tls.Config) (net.Conn, error) {
		switch {
		case config != nil:
			return (&tls.Dialer{NetDialer: d, Config: config}).DialContext(ctx, "tcp", address)
		case !o.Plaintext && !isLoopback(address): // Sentinel has named it
			return nil, errors.New("the primary is on another machine, and the URL is without TLS; write " + scheme + "s://, or set engine_plaintext = true")
		}
		return d.DialContext(ctx, "tcp", address)
	}
	return option, password, nil
}

// addresses returns the URL's host, and those of ?addr=, with ports.
func addresses(u *url.URL) ([]string, error) {
	host, port := u.Hostname(), u.Port()
	if host == "" {
		return nil, errors.New("the URL has no host; write for example rediss://USER:PASSWORD@HOST:6379")
	}
	if port == "" {
		port = "6379"
	}
	all := []string{net.JoinHostPort(host, port)}
	for _, address := range u.Query()["addr"] {
		if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "" {
			return nil, errors.New("each addr of the URL must be HOST:PORT")
		}
		all = append(all, address)
	}
	return all, nil
}

// trust makes the configuration of TLS, with the certificates in a PEM file besides the system's.
func trust(file string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if file == "" {
		return config, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("[cluster] engine_ca: %w", err)
	}
	if config.RootCAs, err = x509.SystemCertPool(); err != nil {
		config.RootCAs = x509.NewCertPool()
	}
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("[cluster] engine_ca: %s has no certificate in PEM", file)
	}
	return config, nil
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// cutLast returns what is before and after the last sep; "" and all if there is none.
func cutLast(text, sep string) (before, after string) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):]
	}
	return "", text
}

// unescape decodes percent signs. Text where they are not followed by digits is as it is meant.
func unescape(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}
