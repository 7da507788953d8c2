package translate

import (
	"net/url"
	"regexp"
	"strings"
	"sync"

	"toolman/cmd/internal/config/reference"
)

// A Secret is a value that a client's file holds in clear text, and the variable that stands for it
// in tools.toml.
type Secret struct {
	Name, Value string
	File        string // a file of variables that has it in place of the client's; "" if none has
}

// tokenShape matches tokens of well-known services, whatever the name of the variable is.
var tokenShape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[^A-Za-z0-9])(gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}|sk[-_][\w-]{16,}|[rp]k_(live|test)_\w{10,}|` +
		`xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{10,}|AKIA[A-Z0-9]{12,}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|hf_\w{20,}|npm_\w{20,}|pypi-[\w-]{20,}|` +
		`SG\.[\w-]{16,}|dop_v1_\w{20,}|lin_api_\w{16,}|ntn_\w{20,}|secret_\w{30,}|figd_[\w-]{20,}|tvly-[\w-]{16,}|fc-[a-f0-9]{24,}|pat[A-Za-z0-9]{14}\.[a-f0-9]{32,})`)
})

// IsSecret reports whether a value is a secret: by the name of its variable, or because it is a
// token of a known form, a URL with a password or with a secret in its query. An empty value is
// none.
func IsSecret(name, value string) bool {
	return value != "" && (reference.IsSecretName(name) || tokenShape().MatchString(value) || hasSecretURL(value))
}

// SecretArgument returns what of the last argument of a command is a secret, or "".
func SecretArgument(args []string) string {
	before, arg := args[:len(args)-1], args[len(args)-1]
	if _, value := secretIn(before, arg); value != "" {
		return value
	}
	if IsSecret("", arg) {
		return arg
	}
	return ""
}

// secretIn returns the end of an argument that is a secret because of its name: that of the flag
// before it, as in --token VALUE, or that before it in the argument, as in --token=VALUE or in the
// header NAME: VALUE.
func secretIn(before []string, arg string) (name, value string) {
	name, value, ok := strings.Cut(arg, "=")
	if name = strings.TrimLeft(name, "-"); ok && !strings.Contains(name, "://") && !strings.Contains(name, " ") && IsSecret(name, value) {
		return name, value
	}
	if len(before) > 0 {
		flag := before[len(before)-1]
		name = strings.TrimLeft(flag, "-")
		if name != flag && len(name) > 1 && !strings.Contains(name, "=") && !strings.HasPrefix(arg, "-") && reference.IsSecretName(name) {
			return name, arg
		}
	}
	name, value, ok = strings.Cut(arg, ":")
	if ok && !strings.HasPrefix(value, "//") && IsSecret(name, arg) {
		return name, strings.TrimLeft(value, " ")
	}
	return "", ""
}

func hasSecretURL(value string) bool {
	if !strings.Contains(value, "://") {
		return false
	}
	u, err := url.Parse(value)
	if err != nil {
		return strings.Contains(value, "@")
	}
	if u.User != nil {
		if _, has := u.User.Password(); has {
			return true
		}
	}
	for name, values := range u.Query() {
		if reference.IsSecretName(name) && values[0] != "" {
			return true
		}
	}
	return false
}

// Variables are the names that tools.toml uses, so that each stands for one value.
type Variables struct {
	values map[string]string // of secrets
	taken  map[string]bool   // by references to the environment
}

// Take notes the variables of a text of tools.toml: their values come from the environment.
func (v *Variables) Take(name string) {
	if v.taken == nil {
		v.taken = map[string]bool{}
	}
	v.taken[name] = true
}

// Name returns the name of the variable that stands for a secret: the wanted one, unless that has
// another value.
func (v *Variables) Name(want, namespace, value string) string {
	if v.values == nil {
		v.values = map[string]string{}
	}
	for name := range candidates(want, namespace) {
		if other, used := v.values[name]; !v.taken[name] && (!used || other == value) {
			v.values[name] = value
			return name
		}
	}
	return ""
}

// candidates returns names, without end.
func candidates(want, namespace string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		long := want
		if of := VariableName(namespace); of != "" && !strings.HasPrefix(want, of+"_") {
			long = of + "_" + want
		}
		for name := want; yield(name); long += "_2" {
			name = long
		}
	}
}

// OfEnvironment returns the names that are taken by references to the environment, and no others.
func (v *Variables) OfEnvironment() *Variables { return &Variables{taken: v.taken} }
