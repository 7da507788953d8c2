// Package metatool implements toolman's own tools: toolman_activate, toolman_call and the toolset
// tools. It parses their arguments and returns an [Outcome], which the session applies. It also
// writes their definitions, the instructions, and the advice on how to activate an inactive item
// ([Guidance]).
package metatool
