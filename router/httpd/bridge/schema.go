package bridge

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"toolman/router"
)

const (
	maxSchema   = 256 << 10 // bytes of a schema that arguments are held against
	maxSchemas  = 4096      // that are kept
	maxProblems = 20        // that an answer lists
)

// schemas are the compiled input schemas of tools. The zero value is ready to use.
type schemas struct {
	mu   sync.RWMutex
	made map[*router.Entry]*compiled // guarded by mu; nil for one that cannot be used
}

// check holds arguments against the tool's schema. A schema that cannot be used, because
// it is none, is too long, or refers to what is elsewhere, leaves that to the server.
func (x *schemas) check(e *router.Entry, arguments []byte) *Failure {
	schema := x.of(e)
	if schema == nil {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(arguments))
	if err != nil {
		return fail(BadRequest, "arguments: "+err.Error())
	}
	if tooDeep(value, schema.branching) {
		return nil
	}
	wrong, ok := errors.AsType[*jsonschema.ValidationError](schema.Validate(value))
	if !ok {
		return nil
	}
	problems := appendProblems(nil, wrong)
	f := fail(InvalidArguments, fmt.Sprintf("the arguments are not as tool %s wants them: %s", e.Item.Name, problems[0]))
	if len(problems) > 1 {
		f.Message += fmt.Sprintf(" (and %d more)", len(problems)-1)
	}
	f.Details = map[string]any{"errors": problems[:min(len(problems), maxProblems)]}
	return f
}

// A compiled schema is ready to be used.
type compiled struct {
	*jsonschema.Schema
	branching float64 // see toil.go
}

func (x *schemas) of(e *router.Entry) *compiled {
	x.mu.RLock()
	schema, known := x.made[e]
	x.mu.RUnlock()
	if known {
		return schema
	}
	schema = compile(e.InputSchema())
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.made == nil || len(x.made) >= maxSchemas { // entries go with their lists
		x.made = map[*router.Entry]*compiled{}
	}
	x.made[e] = schema
	return schema
}

// compile returns a schema, of 2020-12 unless it says of which draft it is; nil when it
// cannot be used.
func compile(text []byte) (made *compiled) {
	defer func() {
		if recover() != nil { // the library's; the schema is a stranger's
			made = nil
		}
	}()
	if len(text) == 0 || len(text) > maxSchema {
		return nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil
	}
	n, plain := branching(doc)
	if !plain || n > maxToil {
		return nil
	}
	const here = "toolman:///inputSchema.json"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(nowhere{})
	if c.AddResource(here, doc) != nil {
		return nil
	}
	schema, err := c.Compile(here)
	if err != nil {
		return nil
	}
	return &compiled{schema, n}
}

// nowhere is where schemas are loaded from. What a schema refers to outside of itself
// would be a server's choice of a file or an address to read.
type nowhere struct{}

var errElsewhere = errors.New("schemas are not fetched")

// Load implements jsonschema.URLLoader.
func (nowhere) Load(string) (any, error) { return nil, errElsewhere }

// A problem is one place where arguments are wrong.
type problem struct {
	Path    string `json:"path"` // a JSON pointer (RFC 6901) into the arguments, "" for all of them
	Message string `json:"message"`
}

// String is the problem on a line.
func (p problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return "at " + p.Path + ": " + p.Message
}

// appendProblems appends what has no further causes.
func appendProblems(all []problem, e *jsonschema.ValidationError) []problem {
	if len(e.Causes) == 0 {
		text := e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
		return append(all, problem{pointer(e.InstanceLocation), shown(text)})
	}
	for _, cause := range e.Causes {
		all = appendProblems(all, cause)
	}
	return all
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

func pointer(location []string) string {
	var text strings.Builder
	for _, one := range location {
		text.WriteString("/" + escapePointer.Replace(one))
	}
	return shown(text.String())
}
