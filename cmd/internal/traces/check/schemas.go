package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"toolman/cmd/internal/traces/files"
	"toolman/mcpwire/schema"
)

const (
	env       = "TOOLMAN_MCP_SCHEMAS"
	official  = "https://raw.githubusercontent.com/modelcontextprotocol/modelcontextprotocol/main/schema/"
	maxSchema = 64 << 20
)

// cacheDir returns the directory of downloaded schemas.
func cacheDir() (string, error) {
	dir := os.Getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(dir) {
		var err error
		if dir, err = os.UserCacheDir(); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, "toolman", "schemas"), nil
}

// sourceOf returns the source of schemas: a directory, that in the environment, or the cache.
func sourceOf(dir string) (schema.Source, error) {
	dir = cmp.Or(dir, os.Getenv(env))
	if dir == "" {
		var err error
		if dir, err = cacheDir(); err != nil {
			return nil, nil // no home directory: without schemas
		}
	} else if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	return schema.Folder(dir, schema.Compile), nil
}

// A fetcher downloads schemas.
type fetcher struct {
	from string
	http *http.Client
}

func newFetcher() *fetcher {
	return &fetcher{official, &http.Client{Timeout: time.Minute, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.URL.Scheme != "https" || len(via) > 5 {
			return errors.New("it redirects to " + r.URL.Redacted())
		}
		return nil
	}}}
}

// fetch downloads the schemas of all revisions into a directory.
func (f *fetcher) fetch(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, revision := range append(schema.Legacy(), schema.Modern) {
		if err := f.one(ctx, dir, revision); err != nil {
			return fmt.Errorf("the schema of %s: %w", revision, err)
		}
	}
	return nil
}

func (f *fetcher) one(ctx context.Context, dir, revision string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.from+revision+"/schema.json", nil)
	if err != nil {
		return err
	}
	response, err := f.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", request.URL.Redacted(), response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxSchema+1))
	if err != nil {
		return err
	}
	if len(text) > maxSchema {
		return fmt.Errorf("it is longer than %d bytes", maxSchema)
	}
	if _, err := schema.New(revision, text, schema.Compile); err != nil {
		return err
	}
	return files.Replace(filepath.Join(dir, revision+".json"), func(out io.Writer) error {
		_, err := out.Write(text)
		return err
	})
}
