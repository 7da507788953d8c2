package main

import (
	"time"

	"toolman/cmd/internal/pages"
	"toolman/router"
)

// restTime is how long after the start what only the start needed is given back: clients have
// asked for their first lists by then.
const restTime = time.Second

// rest gives that memory back once the servers of a router are up.
func rest(r *router.Router) {
	<-r.Started()
	time.Sleep(restTime)
	pages.Release()
}
