// Package tracing writes the frames that pass through the router to the message trace, with what the
// router knows about each: the method, the name, the verdict, the time that it took.
package tracing
