// Package budget limits what one client can make toolman hold for it, so that no client can take
// from others what they need: memory, sessions, streams, calls, processes and connections.
//
// Each client has an Account, which is kept under its principal. Clients without a credential
// cannot be told apart, and share one. Whoever keeps something for a client takes it from the
// account before, and gives it back after:
//
//	a := budgets.Open(principal)
//	defer a.Close()
//	if err := a.Take(budget.Sessions, 1); err != nil {
//		return err // a *LimitError: it names the limit
//	}
//	defer a.Give(budget.Sessions, 1)
package budget
