package ops

import (
	"bytes"
	"os"
	"runtime"
	"strconv"

	"toolman/router/httpd/ops/prom"
)

// process writes what dashboards of Go programs look for.
func (m *Metrics) process(p *prom.Page) {
	var memory runtime.MemStats // package runtime/metrics prepares itself at each start, whoever asks for it or not
	runtime.ReadMemStats(&memory)
	p.Begin("go_goroutines", "gauge", "Goroutines that there are.")
	p.Value(float64(runtime.NumGoroutine()))
	p.Begin("go_memstats_heap_alloc_bytes", "gauge", "Bytes of the heap in use.")
	p.Value(float64(memory.HeapAlloc))
	p.Begin("process_start_time_seconds", "gauge", "When the process was started, since 1970.")
	p.Value(float64(m.born.UnixMilli()) / 1000)
	if resident := residentBytes(); resident > 0 {
		p.Begin("process_resident_memory_bytes", "gauge", "Memory that the process has, without its servers'.")
		p.Value(resident)
	}
}

// residentBytes is 0 where the system does not tell it in a file.
func residentBytes() float64 {
	text, _ := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseUint(string(fields[1]), 10, 53)
	return float64(pages) * float64(os.Getpagesize())
}
