package engine

import (
	"bytes"
	"compress/flate"
	"io"
)

// A record is stored as it is, or compressed after a byte that none begins with. Long ones have
// names of tools or URIs that are much alike.
const (
	compressed   = 1
	shortRecord  = 4 << 10 // bytes of a record that is stored as it is
	longestPlain = 4 << 20 // bytes of a record before it is compressed
)

// pack returns a record as it is stored. The error is ErrTooLong.
func pack(record []byte) ([]byte, error) {
	if len(record) <= shortRecord {
		return record, nil
	}
	if len(record) > longestPlain {
		return nil, ErrTooLong
	}
	out := bytes.NewBuffer([]byte{compressed})
	w, err := flate.NewWriter(out, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(record); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if out.Len() > MaxRecord {
		return nil, ErrTooLong
	}
	return out.Bytes(), nil
}

// unpack returns a record that pack has packed.
func unpack(packed []byte) ([]byte, error) {
	if len(packed) == 0 || packed[0] != compressed {
		return packed, nil
	}
	record, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed[1:])), longestPlain+1))
	if err != nil || len(record) > longestPlain {
		return nil, errForeign
	}
	return record, nil
}
