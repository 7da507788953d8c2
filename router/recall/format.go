package recall

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// MaxBytes is the size of a file at most. What is larger is not kept.
const MaxBytes = 16 << 20

const (
	magic     = "toolman catalog 1\n" // begins a file; another version of the format has another number
	maxHeader = 4 << 10               // bytes of its second line
	sections  = 1 + mcpwire.Kinds     // the result of the handshake, and the lists
)

// A Header describes a file. Its line follows the magic.
type Header struct {
	Server string             `json:"server"` // the server's name in the configuration
	Config string             `json:"config"` // the configuration that has last stored it
	Client string             `json:"client"` // Client.Key
	Name   string             `json:"name"`   // Client.Name
	Items  [mcpwire.Kinds]int `json:"items"`
	Sizes  [sections]int      `json:"sizes"`  // of the sections in bytes
	Digest string             `json:"digest"` // SHA-256 of the sections
}

// errFormat says that a file is none of this format, or is damaged.
var errFormat = errors.New("this is no file of the catalog cache, or it is damaged")

// Prepare fills in the fields of a header that depend on what is stored. It returns an error if that
// is too large.
func (h *Header) Prepare(o *Offered) error {
	hash := sha256.New()
	total := len(magic) + maxHeader
	for i := range sections {
		n, err := writeSection(hash, o, i)
		if err != nil {
			return err
		}
		h.Sizes[i] = n
		total += n
	}
	for k, items := range o.Lists {
		h.Items[k] = len(items)
	}
	if total > MaxBytes {
		return fmt.Errorf("the lists of server %s have %d bytes, and the catalog cache keeps at most %d of a server", h.Server, total, MaxBytes)
	}
	h.Digest = hex.EncodeToString(hash.Sum(nil))
	return nil
}

// Write writes a file. The header must be prepared.
func Write(w io.Writer, h *Header, o *Offered) error {
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if len(line) >= maxHeader {
		return fmt.Errorf("the names of server %s and its client have %d bytes, and the catalog cache keeps at most %d", h.Server, len(line), maxHeader)
	}
	if _, err := io.WriteString(w, magic+string(line)+"\n"); err != nil {
		return err
	}
	for i := range sections {
		if _, err := writeSection(w, o, i); err != nil {
			return err
		}
	}
	return nil
}

// frameStart and frameEnd make a JSON-RPC response of a result, because responses can be checked
// like those of a server.
const frameStart, frameEnd = `{"jsonrpc":"2.0","id":0,"result":`, "}\n"

// writeSection writes a section and returns its size. The items are written as they came.
func writeSection(w io.Writer, o *Offered, i int) (size int, err error) {
	write := func(text []byte) {
		if err == nil {
			var n int
			n, err = w.Write(text)
			size += n
		}
	}
	write([]byte(frameStart))
	if i == 0 {
		result, marshalErr := json.Marshal(o.Result)
		if marshalErr != nil {
			return 0, marshalErr
		}
		write(result)
	} else {
		k := mcpwire.Kind(i - 1)
		write([]byte(`{"` + k.Member() + `":[`))
		for j, item := range o.Lists[k] {
			if j > 0 {
				write([]byte{','})
			}
			write(item.Raw)
		}
		write([]byte("]}"))
	}
	write([]byte(frameEnd))
	return size, err
}

// ReadHeader reads the header of a file. The sections follow it.
func ReadHeader(r *bufio.Reader) (h Header, err error) {
	start := make([]byte, len(magic))
	if _, err := io.ReadFull(r, start); err != nil || string(start) != magic {
		return h, errFormat
	}
	line, err := r.ReadSlice('\n')
	if err != nil || json.Unmarshal(line, &h) != nil {
		return h, errFormat
	}
	return h, nil
}

// Parse reads a file. The items refer to text, which must not change afterwards.
func Parse(text []byte) (*Offered, error) {
	in := bytes.NewReader(text)
	r := bufio.NewReader(in)
	h, err := ReadHeader(r)
	if err != nil {
		return nil, err
	}
	rest := text[len(text)-in.Len()-r.Buffered():]
	if sum := sha256.Sum256(rest); hex.EncodeToString(sum[:]) != h.Digest {
		return nil, errFormat
	}
	o := &Offered{Client: h.Client}
	for i, size := range h.Sizes {
		if size < 0 || size > len(rest) {
			return nil, errFormat
		}
		if err := o.parseSection(i, rest[:size:size]); err != nil {
			return nil, fmt.Errorf("%w: %w", errFormat, err)
		}
		rest = rest[size:]
	}
	if len(rest) > 0 {
		return nil, errFormat
	}
	return o, nil
}

// parseSection reads a section. It is checked as the response of a server would be.
func (o *Offered) parseSection(i int, frame []byte) error {
	var m jsonrpc.Message
	if err := jsonrpc.Scan(bytes.TrimSuffix(frame, []byte{'\n'}), &m); err != nil {
		return err
	}
	if m.Kind != jsonrpc.Response || !m.Result.Present() {
		return errors.New("a section has no result")
	}
	if i == 0 {
		if err := json.Unmarshal(m.Bytes(m.Result), &o.Result); err != nil {
			return err
		}
		if mcpwire.EraOf(o.Result.ProtocolVersion) == mcpwire.Unknown {
			return errors.New("the revision is not supported")
		}
		return nil
	}
	k := mcpwire.Kind(i - 1)
	page, err := mcpwire.ParsePage(k, m.Bytes(m.Result))
	if err != nil {
		return err
	}
	o.Lists[k] = page.Items
	return nil
}
