// Package junit writes test results as JUnit XML, which CI systems show.
package junit
