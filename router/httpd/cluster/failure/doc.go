// Package failure answers requests that no replica of a cluster serves, or whose replica is gone,
// in the form that their clients understand.
package failure
