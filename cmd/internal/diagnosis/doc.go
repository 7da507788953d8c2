// Package diagnosis says why a server does not work well, and what corrects it.
//
// It reads what is known after the servers have started: their status, their standard error and
// their items. It starts nothing. Texts of servers are made safe to show, and the caller has taken
// secrets out of them. The IDs of findings are documented, and stay as they are.
package diagnosis
