// Package inputschema holds the arguments of a call against the inputSchema of its tool,
// and says where they are wrong.
//
// [Compile] takes the schema of a server, which is a stranger's. What cannot be used is an
// error, and then the arguments are for the server alone to judge: a schema that refers to
// what is elsewhere (nothing is ever fetched), of a draft that the library does not have,
// with an expression that is none in Go, or that would take too long. The same is true of
// arguments that cannot be told exactly (value.go). To refuse what the server would have
// taken is worse than to pass on what it refuses.
//
// The work is github.com/google/jsonschema-go's. It has neither a bound on its work nor
// the place in the arguments, so around it are:
//
//	modest.go   bounds on what is read at all
//	link.go     each schema gets an id, references are followed, and those in a circle found
//	reach.go    which schemas a value is held against when it is held against one
//	toil.go     the work that arguments are, counted before it is done
//	explain.go  arguments and schema walked together, for the places that are wrong
//	say.go      what is wrong there, in words
package inputschema
