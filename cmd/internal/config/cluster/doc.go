// Package cluster reads the table [cluster]: how replicas of toolman serve find each other.
package cluster
