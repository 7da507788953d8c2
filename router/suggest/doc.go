// Package suggest tells which of many names somebody may have meant by one that is unknown.
package suggest
