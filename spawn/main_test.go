//go:build unix

package spawn

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain makes the test binary be a reaper, or a badly behaved child, when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "__guard":
			RunReaper(os.Args[2:], os.Stdin)
			syscall.Kill(os.Getpid(), syscall.SIGKILL) // os.Exit sleeps for a second under the race detector
		case "__child":
			play(os.Args[2:])
			os.Exit(0)
		}
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // the same for the scripted children
	os.Exit(m.Run())
}

// lifetime is for ever as far as tests go, but lets no child of a broken build live on.
const lifetime = 2 * time.Minute

// script is the command line of a child that does the given things one after the other; see play.
func script(verbs ...string) []string {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return append([]string{exe, "__child"}, verbs...)
}

// play is what a scripted child does.
func play(verbs []string) {
	next := func() (arg string) {
		arg, verbs = verbs[0], verbs[1:]
		return arg
	}
	for len(verbs) > 0 {
		switch verb := next(); verb {
		case "announce": // leave word of this process in this folder
			announce(next(), os.Getpid())
		case "announce-parent":
			announce(next(), os.Getppid())
		case "ignore": // what asks to end
			signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
		case "print":
			fmt.Println(next())
		case "complain":
			fmt.Fprintln(os.Stderr, next())
		case "flood": // standard error, this many numbered lines
			n, err := strconv.Atoi(next())
			check(err)
			flood(n)
		case "eof": // wait for the end of stdin
			io.Copy(io.Discard, os.Stdin)
		case "term": // wait for SIGTERM
			c := make(chan os.Signal, 1)
			signal.Notify(c, syscall.SIGTERM)
			fmt.Println("waiting")
			<-c
		case "pause": // for as long as it takes to be cut short
			time.Sleep(200 * time.Millisecond)
		case "hang":
			time.Sleep(lifetime)
		case "exit":
			code, err := strconv.Atoi(next())
			check(err)
			os.Exit(code)
		case "fork": // start another child in this group, with these streams: its verbs as one word
			launch(words(next()), false)
		case "daemon": // the same, but in a session of its own
			launch(words(next()), true)
		case "outlive": // start another child that outlives all others: its verbs as one word
			argv := script(words(next())...)
			cmd := exec.Command(argv[0], argv[1:]...)
			Outlive(cmd)
			check(cmd.Start())
		case "gateway": // be a toolman: start a reaper and run the rest of the words, announce all in this folder
			gateway(false, next(), verbs)
		case "settled-gateway": // the same, some time after its start
			gateway(true, next(), verbs)
		default:
			panic("unknown verb " + verb)
		}
	}
}

func launch(verbs []string, session bool) {
	argv := script(verbs...)
	_, err := os.StartProcess(argv[0], argv, &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys:   &syscall.SysProcAttr{Setsid: session},
	})
	check(err)
}

// words takes apart verbs that came as one word; a comma holds together what a child is to take
// apart.
func words(verbs string) []string {
	list := strings.Fields(verbs)
	for i, word := range list {
		if i > 0 && (list[i-1] == "fork" || list[i-1] == "daemon") {
			list[i] = strings.ReplaceAll(word, ",", " ")
		}
	}
	return list
}

func flood(n int) {
	for i := range n {
		fmt.Fprintf(os.Stderr, "line %d of a child that talks a lot\n", i)
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
