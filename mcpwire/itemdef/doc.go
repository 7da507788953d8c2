// Package itemdef knows what defines a tool, resource, resource template or prompt, however its
// server spells it.
package itemdef
