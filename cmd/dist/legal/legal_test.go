package legal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolman/cmd/dist/release"
)

const (
	mit = `Permission is hereby granted, free of charge, to any person obtaining a copy
// of this software and associated documentation files (the "Software") ...
 The above copyright notice and this permission notice shall be included in all copies.
 THE SOFTWARE IS PROVIDED "AS IS"`
	bsd = `Redistribution and use in source and binary forms, with or without
modification, are permitted provided that ...
 * Neither the name of X may be used
THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS`
)

func TestIdentify(t *testing.T) {
	for text, want := range map[string]string{
		mit: "MIT",
		bsd: "BSD-3-Clause",
		strings.Replace(bsd, "Neither the name", "", 1):                                         "BSD-2-Clause",
		"Apache License\n   Version 2.0, January 2004\n":                                        "Apache-2.0",
		"Licensed under the Apache License, Version 2.0 (the License)\n\n" + mit:                "Apache-2.0 MIT",
		"Permission to use, copy, modify, and/or distribute this software for any purpose with": "ISC",
		"GNU GENERAL PUBLIC LICENSE Version 3":                                                  "",
		"All rights reserved.":                                                                  "",
	} {
		if got := strings.Join(identify(text), " "); got != want {
			t.Errorf("%q is taken for %q, not %q", text, got, want)
		}
	}
}

func TestModuleWithoutALicense(t *testing.T) {
	write := func(dir, name, text string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	m := &Module{Path: "example.com/m", Version: "v1.0.0", dir: dir}
	write(dir, "license.go", mit)
	if err := m.read(); err == nil || !strings.Contains(err.Error(), "example.com/m v1.0.0 has no license") {
		t.Errorf("without a license: %v", err)
	}
	write(dir, "LICENSE.md", mit)
	write(dir, "NOTICE", "by somebody")
	if err := m.read(); err != nil || m.Expression() != "MIT" || len(m.Texts) != 2 {
		t.Errorf("with a license: %v %+v", err, m)
	}
	sub := filepath.Join(dir, "a", "b")
	write(filepath.Dir(sub), "COPYING", bsd)
	write(sub, "b.go", "package b")
	m = &Module{Path: m.Path, dir: dir, packages: []string{sub}}
	if err := m.read(); err != nil || m.Expression() != "BSD-3-Clause AND MIT" {
		t.Errorf("with a package from elsewhere: %v %+v", err, m)
	}
	write(sub, "LICENCE", "GNU GENERAL PUBLIC LICENSE")
	m = &Module{Path: m.Path, dir: dir, packages: []string{sub}}
	if err := m.read(); err == nil || !strings.Contains(err.Error(), "a/b/LICENCE is no license that is known") {
		t.Errorf("with a package under another license: %v", err)
	}
}

func TestUnion(t *testing.T) {
	a := []*Module{{Path: "b", Version: "1", Licenses: []string{"MIT"}, Texts: []Text{{"LICENSE", "b's"}}}}
	b := []*Module{{Path: "a", Version: "1", Licenses: []string{"ISC"}, Texts: []Text{{"LICENSE", "a's"}}}, {Path: "b", Version: "1", Licenses: []string{"BSD-3-Clause"}, Texts: []Text{{"LICENSE", "b's"}, {"x/LICENSE", "x's"}}}}
	text := string(Notices(Union(a, b)))
	for _, once := range []string{"a's", "b's", "x's", "b 1: BSD-3-Clause AND MIT"} {
		if strings.Count(text, once) != 1 {
			t.Errorf("%q is there %d times:\n%s", once, strings.Count(text, once), text)
		}
	}
	if strings.Index(text, "a's") > strings.Index(text, "b's") || a[0].Licenses[0] != "MIT" || len(a[0].Licenses) != 1 {
		t.Errorf("%s\n%+v", text, a[0])
	}
}

// TestLinkedForAnotherSystem has the modules of toolman held against a program that has none of
// them: this test.
func TestLinkedForAnotherSystem(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: it lists packages of two systems; run it without -short")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = Linked(filepath.Join("..", "..", ".."), release.Build{Platform: release.Platform{OS: "windows", Arch: "amd64"}, Path: self})
	if err == nil || !strings.Contains(err.Error(), "modules, and go list names") {
		t.Errorf("a program with other modules: %v", err)
	}
}
