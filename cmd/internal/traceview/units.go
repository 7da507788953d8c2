package traceview

import "fmt"

// since is a record's time from the start of its run.
func since(us int64) string { return fmt.Sprintf("+%d.%03d", us/1e6, us/1e3%1e3) }

// duration is a time in microseconds in three digits or so.
func duration(us int64) string {
	switch {
	case us < 1_000:
		return fmt.Sprintf("%dµs", us)
	case us < 10_000:
		return fmt.Sprintf("%.2fms", float64(us)/1e3)
	case us < 1_000_000:
		return fmt.Sprintf("%dms", us/1e3)
	case us < 100_000_000:
		return fmt.Sprintf("%.2fs", float64(us)/1e6)
	}
	return fmt.Sprintf("%ds", us/1e6)
}

// size is a number of bytes in three digits or so.
func size(n int) string {
	switch {
	case n < 1_000:
		return fmt.Sprintf("%dB", n)
	case n < 100_000:
		return fmt.Sprintf("%.1fKB", float64(n)/1e3)
	case n < 1_000_000:
		return fmt.Sprintf("%dKB", n/1e3)
	}
	return fmt.Sprintf("%.1fMB", float64(n)/1e6)
}
