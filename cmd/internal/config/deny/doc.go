// Package deny reads the rules in deny of an agent's policy: names of tools, and conditions on the
// arguments of their calls.
package deny
