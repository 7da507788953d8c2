package bridge

import (
	"fmt"
	"sync"

	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
	"toolman/router/httpd/bridge/inputschema"
)

const (
	maxSchemas  = 4096 // that are kept
	maxProblems = 20   // that an answer lists
)

// schemas are the compiled input schemas of tools. The zero value is ready to use.
type schemas struct {
	mu   sync.RWMutex
	made map[*catalog.Entry]*inputschema.Schema // guarded by mu; nil for one that cannot be used
}

// check holds arguments against the tool's schema. One that cannot be used leaves that to
// the server.
func (x *schemas) check(e *catalog.Entry, arguments []byte) *Failure {
	schema := x.of(e)
	if schema == nil {
		return nil
	}
	problems := schema.Check(arguments)
	if len(problems) == 0 {
		return nil
	}
	listed := problems[:min(len(problems), maxProblems)]
	for i, p := range listed {
		listed[i] = inputschema.Problem{Path: sanitize.Cut(p.Path, maxShown), Message: sanitize.Cut(p.Message, maxShown)}
	}
	f := fail(InvalidArguments, fmt.Sprintf("the arguments are not as tool %s wants them: %s", e.Item.Name, listed[0]))
	if more := len(problems) - 1; more > 0 {
		f.Message += fmt.Sprintf(" (and %d more)", more)
	}
	f.Details = map[string]any{"errors": listed}
	return f
}

func (x *schemas) of(e *catalog.Entry) *inputschema.Schema {
	x.mu.RLock()
	schema, known := x.made[e]
	x.mu.RUnlock()
	if known {
		return schema
	}
	schema, err := inputschema.Compile(e.InputSchema())
	if err != nil {
		schema = nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.made == nil || len(x.made) >= maxSchemas { // entries go with their lists
		x.made = map[*catalog.Entry]*inputschema.Schema{}
	}
	x.made[e] = schema
	return schema
}
