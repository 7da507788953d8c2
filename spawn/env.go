package spawn

import (
	"runtime"
	"strings"
)

// Environ joins two environments of KEY=value entries. Of entries with the same key the last one counts,
// in the place where the key came first. Entries that are no KEY=value are left out.
// The result shares no memory with its arguments.
func Environ(base, extra []string) []string {
	env := make([]string, 0, len(base)+len(extra))
	at := make(map[string]int, cap(env))
	for _, list := range [][]string{base, extra} {
		for _, entry := range list {
			key, ok := envKey(entry)
			if !ok {
				continue
			}
			if i, seen := at[key]; seen {
				env[i] = entry
				continue
			}
			at[key] = len(env)
			env = append(env, entry)
		}
	}
	return env
}

// getenv returns the value of key in env, "" if it is not there. Env holds no duplicates.
func getenv(env []string, key string) string {
	for _, entry := range env {
		if k, ok := envKey(entry); ok && k == key {
			return entry[len(key)+1:]
		}
	}
	return ""
}

// envKey returns the name that entry sets, in one spelling where case does not count.
// Windows has names that begin with "=", such as "=C:".
func envKey(entry string) (string, bool) {
	if entry == "" {
		return "", false
	}
	i := strings.IndexByte(entry[1:], '=')
	if i < 0 {
		return "", false
	}
	key := entry[:i+1]
	if runtime.GOOS == "windows" {
		key = strings.ToUpper(key)
	}
	return key, true
}
