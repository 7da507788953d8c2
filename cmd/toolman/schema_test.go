package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"toolman/cmd/internal/cli"
)

func TestSchemaIsPrinted(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if code := run(t.Context(), []string{"schema"}, nil, out, os.Stderr); code != cli.ExitOK {
		t.Fatalf("exit code %d", code)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(text, &schema); err != nil || schema.Properties["servers"] == nil {
		t.Errorf("%v, got %s", err, text)
	}
}
