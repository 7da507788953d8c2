package inputschema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// say returns what is wrong with a value, for people. The library's text begins with the
// keyword that the value fails; what it says of values and of numbers is left out.
func say(q *jsonschema.Schema, err error) string {
	said, own := cause(err)
	keyword, rest, _ := strings.Cut(said, ": ")
	switch {
	case own:
	case q.UnevaluatedProperties != nil:
		return "has properties that the schema does not foresee (unevaluatedProperties)"
	case q.UnevaluatedItems != nil:
		return "has elements that the schema does not foresee (unevaluatedItems)"
	default:
		return "has something in it that is not as the schema wants it (" + keyword + ")"
	}
	switch keyword {
	case "type":
		_, rest, _ = strings.Cut(rest, "has type ")
		return "has type " + rest
	case "enum":
		return "has to be one of " + asJSON(q.Enum)
	case "const":
		return "has to be " + asJSON(*q.Const)
	case "minimum":
		return "has to be at least " + asJSON(*q.Minimum)
	case "maximum":
		return "has to be at most " + asJSON(*q.Maximum)
	case "exclusiveMinimum":
		return "has to be more than " + asJSON(*q.ExclusiveMinimum)
	case "exclusiveMaximum":
		return "has to be less than " + asJSON(*q.ExclusiveMaximum)
	case "multipleOf":
		return "has to be a multiple of " + asJSON(*q.MultipleOf)
	case "minLength":
		return fmt.Sprintf("has to have at least %d characters", *q.MinLength)
	case "maxLength":
		return fmt.Sprintf("has to have at most %d characters", *q.MaxLength)
	case "pattern":
		return "does not match the regular expression " + strconv.Quote(q.Pattern)
	case "contains":
		return "has no element that is as contains says"
	case "not":
		return "is not allowed"
	case "anyOf":
		return "fits none of the alternatives (anyOf)"
	case "oneOf":
		return "does not fit exactly one of the alternatives (oneOf)"
	}
	return rest
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "what the schema has"
	}
	return string(text)
}

func quoted(name string) string { return "'" + name + "'" }
