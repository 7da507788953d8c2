// Package names makes the IDs of legacy sessions and the names of units. All replicas of a cluster
// compute them alike; nobody else can.
package names
