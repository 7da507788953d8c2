// Package catalog holds what exists: the tools, resources, resource templates and prompts of all upstream
// servers, each under the name that clients see, and what policies, toolsets and pins leave of them.
//
// A [Catalog] does not change. The router makes a new one from the [Offer] of each server when a list has
// changed. [Catalog.Under], [Catalog.Within] and [Catalog.AllActive] return what clients with certain
// rights have of it. A catalog knows nothing of connections and sessions: an [Entry] leads to its server
// by its [Source].
package catalog
