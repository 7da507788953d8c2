package audit

// An Observer is told of decisions as they are made and as they end, to count them. It is told on the goroutines that
// do so, of several decisions at once, and must not wait. A line is valid until the method returns. It has no rule and nothing
// of the arguments.
type Observer interface {
	// Begun is told of every decision once.
	Begun(*Line)
	// Ended is told of every decision once, when it is over: outcome and duration are known.
	Ended(*Line)
}

// Watch has w tell an Observer, too, and returns it. Without a w, it returns a Writer that tells the Observer and
// writes nothing. It is called before w is used, once.
func Watch(w *Writer, by Observer) *Writer {
	if w == nil {
		w = new(Writer)
	}
	w.observer = by
	return w
}

func (w *Writer) begun(l *Line) {
	if w.observer != nil {
		w.observer.Begun(l)
	}
}

func (w *Writer) ended(l *Line) {
	if w.observer != nil {
		w.observer.Ended(l)
	}
}
