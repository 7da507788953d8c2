// Package check is the command `toolman trace check`: it finds what went wrong in a trace, and
// holds it against budgets.
package check
