package httpd

import (
	"fmt"
	"net/http"
	"runtime/debug"
)

// EndOnPanic has a panic of a handler end the process, where net/http would go on: the
// router may hold locks then that nobody will ever let go of. Whoever keeps toolman
// running starts it again.
func EndOnPanic(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch p := recover(); p {
			case nil:
			case http.ErrAbortHandler:
				panic(p)
			default:
				stack := debug.Stack()
				go panic(fmt.Sprintf("%v\n%s", p, stack)) // nobody recovers on a goroutine of its own
				select {}
			}
		}()
		next.ServeHTTP(w, r)
	})
}
