// Package view contains what one client sees of the catalog: which items are active, how names and
// URIs are resolved, and how lists of items look in each era and mode.
//
// A [View] is immutable. An activation results in a new view ([View.Apply]), and so does a new
// catalog ([View.Rebase]).
package view
