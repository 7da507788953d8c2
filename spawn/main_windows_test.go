package spawn

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"toolman/fixtures/process"
)

// patience is how long a test waits for what must happen.
const patience = time.Minute

// TestMain makes the test binary be a child when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "__child" {
		play(os.Args[2], os.Args[3:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func play(verb string, args []string) {
	switch verb {
	case "args": // print the arguments
		text, err := json.Marshal(args)
		check(err)
		fmt.Println(string(text))
	case "env": // print the value of a variable
		fmt.Println(os.Getenv(args[0]))
	case "echo": // standard input
		io.Copy(os.Stdout, os.Stdin)
	case "exit":
		io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	case "complain":
		fmt.Fprint(os.Stderr, "one\r\ntwo\r\nthree")
	case "hang": // whatever happens to standard input
		announce(os.Getpid())
		time.Sleep(2 * time.Minute)
	case "wrap": // have another child hang, and hang too
		startAnother("hang")
		time.Sleep(2 * time.Minute)
	case "leave": // have another child hang, and end
		startAnother("hang")
	case "guard": // be a toolman with a child that is in no job of its own
		_, err := StartReaper()
		check(err)
		startAnother("hang")
		time.Sleep(2 * time.Minute)
	case "outlive": // be a toolman with a child that outlives it
		_, err := StartReaper()
		check(err)
		check(outliving().Start())
		time.Sleep(2 * time.Minute)
	case "escape": // have another child leave the job, or hang if that cannot be
		if outliving().Start() != nil {
			announce(os.Getpid())
		}
		time.Sleep(2 * time.Minute)
	case "gateway": // be a toolman with a child that starts others
		_, err := StartReaper()
		check(err)
		p, err := Start(Command{Name: "test", Argv: script(args[0]), Env: os.Environ()}, nil)
		check(err)
		io.Copy(os.Stdout, p.Stdout())
	default:
		panic("unknown verb " + verb)
	}
}

// announce prints which process this is.
func announce(pid int) {
	id, err := process.Of(pid)
	check(err)
	fmt.Println(id)
}

func startAnother(verb string) { check(another(verb).Start()) }

func another(verb string) *exec.Cmd {
	argv := script(verb)
	other := exec.Command(argv[0], argv[1:]...)
	other.Stdout = os.Stdout
	return other
}

// outliving is another child that leaves the job.
func outliving() *exec.Cmd {
	other := another("hang")
	Outlive(other)
	return other
}

func script(verb ...string) []string {
	exe, err := os.Executable()
	check(err)
	return append([]string{exe, "__child"}, verb...)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// run starts a child that is gone when the test ends.
func run(t *testing.T, c Command) *Process {
	t.Helper()
	c.Name = "test"
	if c.Env == nil {
		c.Env = os.Environ()
	}
	p, err := Start(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Stop(func() { p.Stdin().Close() }, Ladder{})
		p.Stdout().Close()
	})
	return p
}

// output is what a child prints until it ends.
func output(t *testing.T, c Command) string {
	t.Helper()
	p := run(t, c)
	p.Stdin().Close()
	text, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Error(err)
	}
	return strings.TrimSpace(string(text))
}

// announced reads which process a child, or one of its own children, is.
func announced(t *testing.T, p *Process) process.ID {
	t.Helper()
	var line string
	if _, err := fmt.Fscanln(p.Stdout(), &line); err != nil {
		t.Fatal(err)
	}
	id, err := process.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func awaitGone(t *testing.T, id process.ID) {
	t.Helper()
	for end := time.Now().Add(patience); id.Alive(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			id.Kill()
			t.Fatalf("%v has not ended", id)
		}
	}
}
