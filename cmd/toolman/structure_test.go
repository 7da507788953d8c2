package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What a reader has to take in at once.
const (
	mostLines       = 1700 // of a package, with comments and blank lines
	mostFiles       = 25   // of a package, for all systems
	mostFields      = 20   // of a struct with methods
	mostMethodFiles = 6    // that have the methods of a type
	mostCycle       = 12   // files of a package that need each other
)

// records are structs that mirror a configuration, a script or what a trace has. They have as many
// fields as those have keys.
var records = []string{"cmd/internal/config.Config", "router.Options", "cmd/internal/config.Server", "cmd/internal/traces/calls.Call", "jsonrpc/trace.Record", "fixtures/fakemcp.Spec"}

// TestStructure keeps packages, files and types small enough to be understood one at a time.
func TestStructure(t *testing.T) {
	found := 0
	for _, top := range []string{"cmd", "fixtures", "jsonrpc", "mcpwire", "router", "spawn"} {
		err := filepath.WalkDir(filepath.Join("..", "..", top), func(dir string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() || d.Name() == "testdata" {
				return err
			}
			paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
			paths = slices.DeleteFunc(paths, func(p string) bool { return strings.HasSuffix(p, "_test.go") })
			if len(paths) > 0 {
				found++
				checkStructure(t, filepath.ToSlash(strings.TrimPrefix(dir, filepath.Join("..", "..")+string(filepath.Separator))), paths)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 40 {
		t.Errorf("only %d packages were found", found)
	}
}

func checkStructure(t *testing.T, pkg string, paths []string) {
	fset := token.NewFileSet()
	var files []*ast.File
	lines := 0
	for _, path := range paths {
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		lines += linesOf(t, path)
	}
	if lines > mostLines {
		t.Errorf("package %s has %d lines, more than %d", pkg, lines, mostLines)
	}
	if len(paths) > mostFiles {
		t.Errorf("package %s has %d files, more than %d", pkg, len(paths), mostFiles)
	}
	methods := map[string]map[string]bool{} // files, by receiver
	for _, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				of := receiver(fn.Recv.List[0].Type)
				if methods[of] == nil {
					methods[of] = map[string]bool{}
				}
				methods[of][systemless(fset.File(fn.Pos()).Name())] = true
			}
		}
	}
	for of, in := range methods {
		if len(in) > mostMethodFiles {
			t.Errorf("the methods of %s.%s are in %d files, more than %d", pkg, of, len(in), mostMethodFiles)
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				s, isStruct := spec.Type.(*ast.StructType)
				name := pkg + "." + spec.Name.Name
				if isStruct && methods[spec.Name.Name] != nil && s.Fields.NumFields() > mostFields && !slices.Contains(records, name) {
					t.Errorf("struct %s has %d fields, more than %d", name, s.Fields.NumFields(), mostFields)
				}
			}
			return true
		})
	}
	if cycle := largestCycle(fset, files); len(cycle) > mostCycle {
		t.Errorf("%d files of package %s need each other, more than %d: %s", len(cycle), pkg, mostCycle, strings.Join(cycle, " "))
	}
}

// linesOf counts the lines of a file, with comments and blank lines.
func linesOf(t *testing.T, path string) int {
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(src, []byte("\n"))
}

// receiver is the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// systemless is a file's name without the system that it is for.
func systemless(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".go")
	for _, system := range []string{"_linux", "_darwin", "_windows", "_unix", "_other", "_amd64", "_arm64"} {
		name = strings.TrimSuffix(name, system)
	}
	return name
}

// largestCycle returns the largest group of files of a package of which each needs declarations of
// all others, directly or not.
func largestCycle(fset *token.FileSet, files []*ast.File) []string {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	conf := types.Config{Importer: nothing{}, Error: func(error) {}} // what other packages declare is not of interest
	pkg, _ := conf.Check("p", fset, files, info)
	needs := map[string]map[string]bool{}
	add := func(from token.Pos, to types.Object) {
		if to.Pkg() != pkg || !to.Pos().IsValid() {
			return
		}
		a, b := systemless(fset.File(from).Name()), systemless(fset.File(to.Pos()).Name())
		if needs[a] == nil {
			needs[a] = map[string]bool{}
		}
		needs[a][b] = true
	}
	for id, to := range info.Uses {
		if to.Parent() == pkg.Scope() || isMember(to) {
			add(id.Pos(), to)
		}
	}
	reach := map[string]map[string]bool{}
	for from := range needs {
		reach[from] = map[string]bool{}
		for todo := []string{from}; len(todo) > 0; {
			at := todo[0]
			todo = todo[1:]
			for to := range needs[at] {
				if !reach[from][to] {
					reach[from][to] = true
					todo = append(todo, to)
				}
			}
		}
	}
	var largest []string
	for from := range reach {
		var cycle []string
		for to := range reach[from] {
			if reach[to][from] {
				cycle = append(cycle, to)
			}
		}
		if len(cycle) > len(largest) {
			slices.Sort(cycle)
			largest = cycle
		}
	}
	return largest
}

// isMember reports whether something is a field or a method.
func isMember(o types.Object) bool {
	if v, ok := o.(*types.Var); ok {
		return v.IsField()
	}
	fn, ok := o.(*types.Func)
	return ok && fn.Signature().Recv() != nil
}

// nothing imports empty packages.
type nothing struct{}

func (nothing) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, filepath.Base(path))
	p.MarkComplete()
	return p, nil
}
