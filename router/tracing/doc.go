// Package tracing writes the frames that pass through the router to the message trace. It adds what
// the router knows about each frame, such as the method, the name, the verdict and the duration.
package tracing
