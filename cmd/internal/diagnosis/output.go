package diagnosis

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolman/cmd/internal/config/reference"
	"toolman/mcpwire/sanitize"
)

// A cause is a text in a server's standard error that explains why it ended. In summary and fix,
// {1} stands for the first group of the pattern, {package} for the package that the command names,
// {name} for that without its version, and {at} for the place of the server in the configuration.
type cause struct {
	id, pattern, summary, fix string
}

// causes are tried in this order: the first that matches is the most certain.
var causes = []cause{
	{"registry-unreachable", `(?i)npm (?:error|ERR!) (?:code|errno) (ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|CERT\w*|UNABLE_TO_\w+|SELF_SIGNED\w+|DEPTH_ZERO\w+|FETCH_ERROR)`,
		"npm cannot reach its registry ({1})", "check the network, and registry, proxy and cafile in ~/.npmrc; npm ping tries it"},
	{"registry-unreachable", `(?i)npm (?:error|ERR!) code (E401|E403|E407|E5\d\d)`,
		"npm's registry refuses the package ({1})", "check registry and its token in ~/.npmrc; npm whoami tries it"},
	{"package-not-found", `(?i)npm (?:error|ERR!) code (?:E404)`,
		"npm has no package {package}", "correct the name at {at}; npm view {package} tries it"},
	{"package-not-found", `(?i)npm (?:error|ERR!) code ETARGET`,
		"npm has no such version: {package}", "npm view {name} versions lists them; correct the version at {at}"},
	{"package-not-found", `(?i)npm (?:error|ERR!) code EINVALIDTAGNAME`, "npm does not take the name {package}", "correct the name at {at}"},
	{"package-without-program", `(?i)could not determine executable to run`,
		"the package {package} has no program to run, or more than one", "name the program too at {at}: npx -y --package {package} PROGRAM"},
	{"package-without-program", "(?i)An executable named `([^`]+)` is not provided by package",
		"the package has no program {1}", "name both at {at}: uvx --from PACKAGE PROGRAM"},
	{"package-not-found", "(?i)Because (\\S+) was not found in the (?:package registry|cache)",
		"there is no Python package {1}", "correct the name at {at}; uvx {1} tries it"},
	{"package-not-found", `(?i)No matching distribution found for (\S+)`, "there is no Python package {1}", "correct the name at {at}"},
	{"registry-unreachable", "(?is)(?:Failed to fetch|Request failed after|Could not connect).{0,400}?(dns error|error sending request|operation timed out|connection refused|tcp connect error|invalid peer certificate)",
		"uv cannot reach its package index ({1})", "check the network; UV_INDEX_URL and HTTPS_PROXY choose another way"},
	{"node-too-old", `(?i)(?:engine|requires|required|needs|use|upgrade to)[^\n]{0,40}node(?:\.js)?["':,]?\s*(?:version)?[^\n]{0,12}?(\d{2}(?:\.\d+)*)`,
		"it needs Node.js {1} or later", "install Node.js {1} or later; node --version says which one is first in PATH"},
	{"node-too-old", `(?i)node(?:\.js)?,? (?:version )?v?(\d{2}(?:\.\d+)*)(?: or (?:later|higher|newer|above)|\+)`,
		"it needs Node.js {1} or later", "install Node.js {1} or later; node --version says which one is first in PATH"},
	{"node-too-old", `ERR_UNKNOWN_BUILTIN_MODULE|ReferenceError: (?:ReadableStream|fetch|File|CustomEvent|WebSocket|Headers|crypto|Iterator) is not defined|SyntaxError: Unexpected token '(?:\?\?=|\|\|=|with)'|SyntaxError: Invalid regular expression flags`,
		"it needs a later version of Node.js", "install the latest Node.js; node --version says which one is first in PATH"},
	{"python-too-old", `(?i)(?:requires?|needs?|does not satisfy|requires-python)[^\n]{0,30}Python\s*(?:version)?\s*([<>=!~]*\s*3\.\d+)`,
		"it needs Python {1}", "name a version at {at}, as in uvx --python 3.13, or install it"},
	{"python-missing", `(?i)No interpreter found for (Python[^\n]{0,20})`, "{1} is not there", "uv python install 3.13"},
	{"docker-not-running", `(?i)Cannot connect to the Docker daemon|docker daemon is not running|error during connect:`,
		"Docker is not running", "start Docker Desktop, or: sudo systemctl start docker"},
	{"docker-not-allowed", `(?i)permission denied while trying to connect to the Docker daemon`, "this user may not use Docker", "sudo usermod -aG docker $USER, and log in again"},
	{"image-not-found", `(?i)(?:pull access denied for|manifest for|manifest unknown:?|repository) ?([^\s,]*)[^\n]*(?:does not exist|not found|unknown)`,
		"there is no image {1}", "correct its name at {at}; docker pull tries it"},
	{"file-not-found", `Cannot find module '((?:[A-Za-z]:)?[/\\][^']+)'`, "there is no file {1}", "correct the path at {at}, or build the server first"},
	{"file-not-found", `can't open file '([^']+)'`, "there is no file {1}", "correct the path at {at}"},
	{"module-missing", `(?:Cannot find (?:module|package)|ERR_MODULE_NOT_FOUND[^']*) '([^']+)'`, "its dependency {1} is not installed", "run npm install in the folder of the server"},
	{"module-missing", `ModuleNotFoundError: No module named '?([\w.]+)'?`, "its dependency {1} is not installed", "install it for the Python of the command at {at}: pip install, or uvx"},
	{"module-missing", `No module named ([\w.]+)`, "Python has no module {1}", "install it for the Python of the command at {at}: pip install, or uvx"},
	{"path-not-found", `(?im)((?:^|\b)[^\n]*(?:None of the specified director|(?:(?:directory|folder|path|file) [^\n]{1,200}|(?:^|[\s:'"])(?:[A-Za-z]:)?[/\\][^\s:]{1,200}) (?:does not exist|is not accessible))[^\n]*|ENOENT: no such file or directory, [^\n]*)`,
		"a folder or file that it is given is not there: {1}", "create it, or correct the command and env at {at}"},
	{"address-in-use", `EADDRINUSE[^\n]*?(?::(\d+))?\b|(?i)address already in use`, "it listens on a port that another program uses", "end the other program, or have the server use another port or none"},
	{"out-of-memory", `JavaScript heap out of memory|MemoryError|OutOfMemoryError`, "it ran out of memory", `raise its limit: env = { NODE_OPTIONS = "--max-old-space-size=4096" } at {at}`},
}

// ofOutput explains a server by what it wrote to its standard error.
func (s *Server) ofOutput() (Finding, bool) {
	text := s.Status.Stderr
	if text == "" {
		return Finding{}, false
	}
	if f, ok := s.ofShell(); ok {
		return f, true
	}
	for _, c := range causes {
		m := regexp.MustCompile(c.pattern).FindStringSubmatch(text)
		if m == nil {
			continue
		}
		group := ""
		if len(m) > 1 {
			group = sanitize.Cut(strings.TrimSpace(m[1]), 200)
		}
		pkg := s.packageOf()
		if pkg == "" {
			pkg = "of that name"
		}
		fill := strings.NewReplacer("{1}", group, "{package}", pkg, "{name}", withoutVersion(pkg), "{at}", s.at())
		return s.problem(c.id, fill.Replace(c.summary), fill.Replace(c.fix)), true
	}
	return s.ofWant(text)
}

var (
	// variable matches the name of a variable of a server.
	variable = lazy(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b`)
	// wanted matches a line that says that something is missing.
	wanted = lazy(`(?i)\brequired?s?\b|\bnot (?:been )?(?:set|provided|found|defined|specified|configured)\b|\bmissing\b|\bmust (?:be set|provide|set|specify)|\bplease (?:set|provide|specify|supply|add)|\bundefined\b|\bis empty\b|KeyError|\bneeds? (?:a|an|the|to)\b|\bno (?:api|access) ?(?:key|token)|\b(?:un)?set\b.*\benvironment|environment variable|\bprovide\b`)
	// secret matches words for credentials.
	secret = lazy(`(?i)\b(?:api[ _-]?key|(?:access|auth|api|bearer|personal access)[ _-]?token|credentials?|client[ _-]?secret|password)\b`)
	// arguments matches a line that says that arguments are missing.
	arguments = lazy(`(?im)^\s*usage:|command[- ]line argument|missing (?:required )?(?:positional )?argument|required option|the following arguments are required|at least one (?:allowed )?directory|no (?:allowed )?director(?:y|ies)`)
	// usage matches the first variable in a description of how to use a program, of which the
	// beginning, where the reason stands, may be gone.
	usage = lazy(`(?im)^[ \t]*environment(?: variables)?:[ \t]*\n((?-i:[ \t]*([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+))\b[^\n]*)`)
	// refused matches a line that says that credentials are wrong.
	refused = lazy(`(?i)\b401\b|\b403\b|unauthori[sz]ed|bad credentials|invalid (?:api key|token|credentials)|authentication failed|invalid_auth`)
	// ofPrograms matches names like those of variables that mean something else.
	ofPrograms = lazy(`^(?:ERR_|NODE_|MODULE_NOT|EXIT_|UV_|NPM_|SIG)`)
)

// ofWant explains a server that lacks a variable, credentials or arguments.
func (s *Server) ofWant(text string) (Finding, bool) {
	for line := range strings.Lines(text) {
		if !wanted().MatchString(line) {
			continue
		}
		names := slices.DeleteFunc(variable().FindAllString(line, -1), ofPrograms().MatchString)
		slices.Sort(names)
		if names = slices.Compact(names); len(names) > 0 {
			return s.wants(names[:min(len(names), maxNamed)], line), true
		}
	}
	if m := usage().FindStringSubmatch(text); m != nil && reference.IsSecretName(m[2]) {
		return s.wants(m[2:], m[1]), true
	}
	if line := matching(text, refused()); line != "" {
		return s.problem("credentials-rejected", "its credentials are refused: "+line, "renew the token in env at "+s.at()), true
	}
	if line := matching(text, arguments()); line != "" {
		return s.problem("arguments-missing", "it wants other arguments: "+line, "add them to the command at "+s.at()), true
	}
	for line := range strings.Lines(text) {
		if secret().MatchString(line) && wanted().MatchString(line) {
			return s.problem("token-missing", "it wants credentials: "+sanitize.Cut(strings.TrimSpace(line), lastOutput),
				`give them as its documentation says, often as env = { API_KEY = "${API_KEY}" } at `+s.at()), true
		}
	}
	return Finding{}, false
}

// lazy returns a function that compiles a pattern when it is first called.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// matching returns the first line of a text that a pattern matches, or "".
func matching(text string, p *regexp.Regexp) string {
	for line := range strings.Lines(text) {
		if p.MatchString(line) {
			return sanitize.Cut(strings.TrimSpace(line), lastOutput)
		}
	}
	return ""
}

// wants says that the server wants variables.
func (s *Server) wants(names []string, line string) Finding {
	id, given, kept := "variable-missing", false, false
	var pairs [][2]string
	for _, name := range names {
		if reference.IsSecretName(name) {
			id = "token-missing"
		}
		given = given || slices.ContainsFunc(s.Env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		kept = kept || isSet(name) && !s.Inherits(name)
		pairs = append(pairs, [2]string{name, "${" + name + "}"})
	}
	all := strings.Join(names, " and ")
	if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(line, " or "+name) }) {
		all, names, pairs = strings.Join(names, " or "), names[:1], pairs[:1] // one is enough
	}
	summary := "it wants " + all + ": " + sanitize.Cut(strings.TrimSpace(line), lastOutput)
	switch {
	case given:
		return s.problem(id, summary, "check the values of env at "+s.at())
	case kept:
		return s.problem(id, summary, s.writeTable("env", pairs...)+": a variable that is set is kept from this server")
	}
	return s.problem(id, summary, "set "+strings.Join(names, " and ")+" where toolman is started, and "+s.writeTable("env", pairs...))
}
