// Package budget identifies clients, and limits what each can make toolman hold for it, so that no
// client takes from others what they need: memory, sessions, streams, calls, processes and
// connections.
//
// A [Principal] identifies the sender of a request. Each client has an [Account], which is found by
// its principal. Clients without a credential cannot be distinguished, and share one. Code that
// holds something for a client takes it from the account first, and gives it back later:
//
//	a := budgets.Open(principal)
//	defer a.Close()
//	if err := a.Take(budget.Sessions, 1); err != nil {
//		return err // a *LimitError: it names the limit
//	}
//	defer a.Give(budget.Sessions, 1)
package budget
