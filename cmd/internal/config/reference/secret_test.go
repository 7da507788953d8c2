package reference

import (
	"strings"
	"testing"
)

func TestNamesOfSecrets(t *testing.T) {
	for name := range strings.FieldsSeq(`TOKEN GITHUB_TOKEN token apiToken APIToken api-key API_KEYS X-Api-Key APIKEY OPENAI_APIKEY AWS_ACCESS_KEY_ID
		PGPASSWORD MYSQL_PWD DB_PASS SMTP_PASSWD CLIENT_SECRET SECRETS GOOGLE_CREDENTIALS AUTH AUTHORIZATION BASIC_AUTH COOKIE
		COOKIES JWT GITHUB_PAT USER_PIN KEY_1 ACCESSTOKEN TOKEN_FILE_CONTENT PRIVATEKEY`) {
		if !IsSecretName(name) {
			t.Errorf("%s is not taken for the name of a secret", name)
		}
	}
	for name := range strings.FieldsSeq(`BASE_PATH MODE MCP_CALL_LOG LOG_LEVEL PWD OLDPWD KEYBOARD MONKEY KEYS_DIR KEY_FILE TOKEN_URL TOKEN_LIMIT
		MAX_TOKENS AUTHOR PATTERN COMPASS PASSENGERS PINNED TOKENIZER SPIN PATH SECRETARY URL DSN AUTH_MODE KEY_TYPE SECRET_NAME
		_ - é`) {
		if IsSecretName(name) {
			t.Errorf("%s is taken for the name of a secret", name)
		}
	}
}
