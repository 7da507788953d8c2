// Package setup finds the configuration file, checks who may write it and watches it for changes.
// It turns the configuration into the options of a router: its servers and how they are reached,
// policies, pins and toolsets.
package setup
