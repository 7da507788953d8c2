package router

import (
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/session"
	"toolman/router/view"
)

// A Preview is what lists of tools would cost, in bytes.
type Preview struct {
	ActiveTools  int
	AllTools     int // that the policy allows
	Denied       int // items of any kind that it does not allow
	Bytes        int // of the list at start
	AllBytes     int // of the list if every tool were active
	CatalogBytes int // of the catalog within it
}

// Preview measures what a client would be given now.
func (r *Router) Preview() Preview {
	v := r.startView(r.catalog.Load(), r.current().Policy, client.Info{})
	own, as := session.AtStart(r.sessionEnv)
	p := Preview{AllTools: len(v.Catalog.Entries(mcpwire.Tool)), CatalogBytes: len(view.AppendCatalog(nil, v, 0))}
	p.Bytes = len(own.Tools(v, as))
	for _, e := range v.Catalog.Denied.All() {
		if _, verdict := v.Catalog.Keeps(e); verdict == catalog.Denied {
			p.Denied++
		}
	}
	p.AllBytes = p.Bytes
	for _, e := range v.Catalog.Entries(mcpwire.Tool) {
		size := len(e.AppendListed(nil, e.Source.Modern, as.AlwaysLoad)) + 1
		p.AllBytes += size
		if v.Active(e) {
			p.ActiveTools++
			p.Bytes += size
		}
	}
	return p
}
