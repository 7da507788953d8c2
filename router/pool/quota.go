package pool

import (
	"fmt"
	"sync"

	"toolman/router/budget"
)

// maxPrivate is how many processes all sessions may have together that one session has for itself.
const maxPrivate = 256

var errProcesses = fmt.Errorf("there are %d processes that single sessions have for themselves, as many as there may be", maxPrivate)

// Quota counts processes that one session has for itself. The zero value is ready to use.
type Quota struct {
	mu  sync.Mutex
	all int // guarded by mu
}

// Take counts one more, of the account of a client.
func (x *Quota) Take(account *budget.Account) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all >= maxPrivate {
		return errProcesses
	}
	if err := account.Take(budget.Processes, 1); err != nil {
		return err
	}
	x.all++
	return nil
}

// back counts one less.
func (x *Quota) back(account *budget.Account) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all--
	account.Give(budget.Processes, 1)
}

func (x *Quota) Count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.all
}
