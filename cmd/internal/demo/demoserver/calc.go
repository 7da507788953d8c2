package demoserver

import (
	"errors"
	"math"
	"strconv"
)

// newCalc is a small calculator.
func newCalc(w *writer) *server {
	return newServer(w,
		about{"calc", "Calculator", "1.0.0"},
		map[string]any{"tools": struct{}{}},
		[]tool{
			operation("add", "Add", "Add two numbers", func(a, b float64) (float64, error) { return a + b, nil }),
			operation("multiply", "Multiply", "Multiply two numbers", func(a, b float64) (float64, error) { return a * b, nil }),
			operation("divide", "Divide", "Divide a number by another", divide),
			{
				name: "crash", title: "Crash", description: "End this server in the middle of the call, to see what happens then",
				run: func(args) (outcome, error) { return outcome{}, ErrCrash },
			},
		})
}

func operation(name, title, description string, compute func(a, b float64) (float64, error)) tool {
	return tool{
		name: name, title: title, description: description, readOnly: true,
		params: []param{{"a", "number", "the first number"}, {"b", "number", "the second number"}},
		run: func(a args) (outcome, error) {
			result, err := compute(a.number("a"), a.number("b"))
			switch {
			case err != nil:
				return outcome{}, err
			case math.IsInf(result, 0):
				return outcome{}, errors.New("the result is too large")
			}
			return text("%s", strconv.FormatFloat(result, 'g', -1, 64)), nil
		},
	}
}

func divide(a, b float64) (float64, error) {
	if b == 0 {
		return 0, errors.New("division by zero: b must not be 0")
	}
	return a / b, nil
}
