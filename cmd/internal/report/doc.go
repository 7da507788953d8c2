// Package report describes for people and programs what toolman found: the report of toolman
// check, and the explanations of toolman explain.
package report
