package spawn

// hintFor adds nothing: Windows error texts speak for themselves.
func hintFor(error) string { return "" }
