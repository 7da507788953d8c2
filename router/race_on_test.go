//go:build race

package router

const raced = true // the race detector is on, and everything takes ten times as long
