// Package setup finds and loads the configuration and turns it into the options of a router: its
// servers and how they are reached, policies, pins and toolsets.
package setup
