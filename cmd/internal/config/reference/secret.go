package reference

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
)

// Secret records a value that must never be shown.
func (r *Resolver) Secret(value string) {
	if value != "" && !r.known[value] {
		if r.known == nil {
			r.known = map[string]bool{}
		}
		r.known[value] = true
		r.secrets = append(r.secrets, value)
	}
}

// Secrets returns the values recorded so far.
func (r *Resolver) Secrets() []string { return r.secrets }

// Named records a value of the file, which is a secret if the name of its variable says so. Of a
// URL the password is one in any case.
func (r *Resolver) Named(name, value string) {
	if IsSecretName(name) {
		r.Secret(value)
	}
	r.Password(value)
}

// Password records the password of a URL.
func (r *Resolver) Password(text string) {
	if !strings.Contains(text, "@") || !strings.Contains(text, "://") {
		return
	}
	if u, err := url.Parse(text); err == nil && u.User != nil {
		password, _ := u.User.Password()
		r.Secret(password)
		if _, after, _ := strings.Cut(text, "://"); password != "" {
			userinfo, _, _ := strings.Cut(after, "@")
			_, written, _ := strings.Cut(userinfo, ":")
			r.Secret(written)
		}
	}
}

// inserted records the value of a variable of toolman's environment. It is a secret, unless the
// name is one that programs need, or the value is the path of a file or folder: such a value is a
// part of many arguments and results, and only says where something is.
func (r *Resolver) inserted(name, value string) {
	if !IsSecretName(name) && (Ordinary(VariableName(name)) || isPath(value)) {
		return
	}
	r.Secret(value)
}

// isPath reports whether a value is the absolute path of a file or folder that exists.
func isPath(value string) bool {
	if !filepath.IsAbs(value) {
		return false
	}
	_, err := os.Lstat(value)
	return err == nil
}

// Words of names of variables, in capitals.
var (
	// secretWords make a variable with one of them a secret.
	secretWords = []string{"TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "PASSCODE", "PASS", "PWD", "CREDENTIAL",
		"AUTH", "AUTHORIZATION", "BEARER", "COOKIE", "JWT", "PAT", "PIN"}
	// secretEnds do so at the end of a word: PGPASSWORD, APIKEY.
	secretEnds = []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "ACCESSKEY", "SECRETKEY",
		"PRIVATEKEY"}
	// aboutWords end the names of variables that say something about a secret.
	aboutWords = []string{"FILE", "PATH", "DIR", "URL", "NAME", "TYPE", "MODE", "METHOD", "PREFIX", "LIMIT", "COUNT", "SIZE", "LENGTH",
		"TTL", "TIMEOUT"}
)

// IsSecretName reports whether the name of a variable or key says that its value is a secret. The
// words of a name are divided by characters that are neither letters nor digits, and by a capital
// after a small letter. They may have an S at their end.
func IsSecretName(name string) bool {
	words := wordsOf(name)
	if len(words) == 0 || len(words) == 1 && words[0] == "PWD" { // the working folder
		return false
	}
	last := words[len(words)-1]
	if words[0] == "MAX" || words[0] == "MIN" || len(words) > 1 && slices.Contains(aboutWords, last) {
		return false
	}
	return slices.ContainsFunc(words, func(word string) bool {
		one := strings.TrimSuffix(word, "S")
		return slices.Contains(secretWords, word) || slices.Contains(secretWords, one) ||
			slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(one, end) })
	})
}

// wordsOf returns the words of a name in capitals.
func wordsOf(name string) (words []string) {
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, strings.ToUpper(word.String()))
			word.Reset()
		}
	}
	small := false
	for _, r := range name {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r)
		if !letter || small && unicode.IsUpper(r) {
			end()
		}
		if letter {
			word.WriteRune(r)
		}
		small = unicode.IsLower(r)
	}
	end()
	return words
}

// Ordinary reports variables that programs need and that are no secrets, even if the file refers to
// them. The name is as [VariableName] returns it.
func Ordinary(name string) bool {
	switch name {
	case "PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TMPDIR", "TEMP", "TMP", "LANG", "LANGUAGE", "TZ", "TERM":
		return true
	case "USERPROFILE", "USERNAME", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR",
		"COMSPEC", "PATHEXT":
		return runtime.GOOS == "windows"
	}
	return strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")
}
