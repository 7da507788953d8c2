// Package view holds what one client sees of the catalog: which items are active, where a name or a URI
// leads, and how lists of items look in each era and mode.
//
// A [View] does not change. What a client switches on or off leads to another view ([View.Apply]), and so
// does a new catalog ([View.Rebase]).
package view
