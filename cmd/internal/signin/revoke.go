package signin

import (
	"context"
	"errors"
	"net/url"
	"time"

	"toolman/cmd/internal/logins"
	"toolman/mcpwire/streamhttp/credential"
)

const revokeTime = 5 * time.Second

// Revoke tells the authorization server of a login that its tokens are not used any more (RFC 7009).
// done is false if the server has no way to be told.
func (s *Server) Revoke(ctx context.Context, r *logins.Record, secret func(...string)) (done bool, err error) {
	if r.RevocationEndpoint == "" || !r.HasTokens() {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, revokeTime)
	defer cancel()
	client, err := s.Guard().Client(ctx)
	if err != nil {
		return false, err
	}
	secret(r.AccessToken, r.RefreshToken, r.Client.Secret)
	of := credential.OAuth{ClientID: r.Client.ID, ClientSecret: r.Client.Secret, Method: r.Client.Method, HTTP: client}
	for _, token := range []struct{ text, hint string }{{r.RefreshToken, "refresh_token"}, {r.AccessToken, "access_token"}} {
		if token.text == "" {
			continue
		}
		_, err := of.Post(ctx, r.RevocationEndpoint, url.Values{"token": {token.text}, "token_type_hint": {token.hint}})
		if refused, ok := errors.AsType[*credential.Refused](err); ok && refused.Code == "unsupported_token_type" {
			continue // RFC 7009, 2.2.1
		}
		if err != nil {
			return false, errors.New(words(err))
		}
	}
	return true, nil
}
