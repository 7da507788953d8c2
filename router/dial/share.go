package dial

// Share says which sessions use the process of a server.
type Share uint8

// The values of Share. With ShareAuto all sessions share a process, unless the server could send
// requests to a client: a server of the legacy era does not say during which call it does so.
// Therefore a client that can answer such requests gets a dedicated process.
const (
	ShareAuto Share = iota
	ShareAlways
	ShareNever
)

// ParseShare returns the Share with this name: auto, always or never.
func ParseShare(name string) Share {
	switch name {
	case "always":
		return ShareAlways
	case "never":
		return ShareNever
	}
	return ShareAuto
}
