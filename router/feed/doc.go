// Package feed asks servers for the notifications that sessions want: changes of lists, updates of
// resources and log messages.
//
// The sessions that share a server share its notifications too. A Feed asks the server once for all
// of them. Packages subscribe and loglevel decide which session gets a notification.
package feed
