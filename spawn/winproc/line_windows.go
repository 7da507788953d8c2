package winproc

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// commandLine returns the program to start for the one at a path, and its command line; an empty
// line is the usual one.
func commandLine(path string, argv []string) (program, line string, err error) {
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case ext == ".cmd" || ext == ".bat":
		line, err := batchLine(path, argv[1:])
		if err != nil {
			return "", "", err
		}
		folder, err := windows.GetSystemDirectory()
		return folder + `\cmd.exe`, line, err
	case strings.EqualFold(filepath.Base(path), "cmd.exe"):
		return path, shellLine(argv), nil
	}
	return path, "", nil
}

// batchLine returns the command line with which cmd.exe runs a batch file. As /c alone would take
// away the first and the last quote of some lines, one pair is added.
func batchLine(path string, args []string) (string, error) {
	b := []byte(`cmd.exe /e:ON /v:OFF /d /c "`)
	b = appendBatchArg(b, filepath.FromSlash(path), true)
	for _, arg := range args {
		if strings.ContainsAny(arg, "\r\n") {
			return "", errors.New("cmd.exe runs it, and an argument has a line break, where cmd.exe ends the command; " +
				"start the program that it runs instead, such as node.exe")
		}
		b = appendBatchArg(append(b, ' '), arg, false)
	}
	return string(append(b, '"')), nil
}

// appendBatchArg appends an argument so that cmd.exe hands it unchanged to the batch file, and the
// program that gets the file's %* splits it off as it is. In quotes only % and the quote itself
// have a meaning for cmd.exe.
func appendBatchArg(b []byte, arg string, quote bool) []byte {
	special := func(r rune) bool {
		return r < 0x80 && !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(`#$*+-./:?@\_`, r))
	}
	// A file may put "%~2" into quotes of its own, which a backslash before them would escape.
	quote = quote || arg == "" || strings.HasSuffix(arg, `\`) || strings.ContainsFunc(arg, special)
	if quote {
		b = append(b, '"')
	}
	backslashes := 0
	for i := range len(arg) {
		switch arg[i] {
		case '\\':
			backslashes++
		case '"': // two are one, for cmd.exe and for the C library
			b = append(b, strings.Repeat(`\`, backslashes)+`"`...)
			backslashes = 0
		case '%':
			// %cd:~,% is no character of the current directory. It takes away the second %, so that
			// what follows is not the name of a variable.
			b = append(b, `%%cd:~,`...)
			backslashes = 0
		default:
			backslashes = 0
		}
		b = append(b, arg[i])
	}
	if quote {
		b = append(b, strings.Repeat(`\`, backslashes)+`"`...)
	}
	return b
}

// shellLine returns the command line of cmd.exe. The usual one escapes quotes with backslashes,
// which cmd.exe does not know. What follows /c is text for cmd.exe: one argument as it is, several
// as the usual line has them. /s makes cmd.exe take away the outer quotes and no others.
func shellLine(argv []string) string {
	i := slices.IndexFunc(argv, func(arg string) bool { return strings.EqualFold(arg, "/c") || strings.EqualFold(arg, "/k") })
	if i < 1 || i == len(argv)-1 {
		return ""
	}
	text := argv[i+1]
	if rest := argv[i+1:]; len(rest) > 1 {
		text = join(rest)
	}
	return join(argv[:i]) + " /s " + argv[i] + ` "` + text + `"`
}

// join returns arguments as the C library splits them.
func join(argv []string) string {
	var words []string
	for _, arg := range argv {
		words = append(words, syscall.EscapeArg(arg))
	}
	return strings.Join(words, " ")
}
