// Package catalog contains what exists: the tools, resources, resource templates and prompts of all
// upstream servers, under the names that clients see, and what policies, toolsets and pins allow of
// them.
//
// A [Catalog] is immutable. The router creates a new one from the [Offer] of each server when a
// list has changed. [Catalog.Under], [Catalog.Within] and [Catalog.AllActive] return the catalog
// for clients with certain rights. A catalog does not depend on connections and sessions: an
// [Entry] identifies its server by its [Source].
package catalog
