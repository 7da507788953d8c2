package router

import (
	"errors"
	"slices"

	"go.uber.org/zap"

	"toolman/router/client"
	"toolman/router/metatool"
	"toolman/router/toolset"
)

// errShelf is what clients hear of a file of toolsets that cannot be used: what is wrong with it may
// name what others have saved.
var errShelf = errors.New("the file of saved toolsets cannot be used; toolman's log says why")

// shelfError is an error of the shelf as the client may read it.
func (r *Router) shelfError(who *client.Info, err error) error {
	if err == nil || who.Sole {
		return err
	}
	r.log.Warn("saved toolsets cannot be used", zap.NamedError("err", err))
	return errShelf
}

// only returns the toolsets of tools.toml with these names, in the order of that file,
// each once. Saved ones are not among them: clients can change those.
func (r *Router) only(names []string) []*toolset.Set {
	var sets []*toolset.Set
	all := r.current().Toolsets
	for i := range all {
		if slices.Contains(names, all[i].Name) {
			sets = append(sets, &all[i])
		}
	}
	return sets
}

// library returns the toolsets that the client may know of. It may wait for the disk,
// unless the client is limited to some.
func (r *Router) library(who *client.Info) *metatool.Library {
	if who.Only != nil {
		return &metatool.Library{Sets: r.only(who.Only)}
	}
	l := metatool.ReadLibrary(r.current().Toolsets, r.Shelf, who.Principal.Owner())
	l.Err = r.shelfError(who, l.Err)
	return l
}
