package toolsfile

import (
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/source"
)

// Written returns the servers of the file with what [Server] has of them, as it is written.
func (f File) Written() ([]Server, error) {
	if _, err := f.check(); err != nil {
		return nil, err
	}
	root, err := config.Tree(f.source(f.Text))
	if err != nil {
		return nil, err
	}
	var all []Server
	members, _ := root.Value.([]source.Member)
	for _, m := range members {
		servers, _ := m.Value.([]source.Node)
		if m.Key != "servers" {
			continue
		}
		for _, n := range servers {
			keys, _ := n.Value.([]source.Member)
			all = append(all, writtenServer(keys))
		}
	}
	return all, nil
}

func writtenServer(keys []source.Member) (s Server) {
	texts := map[string]*string{"namespace": &s.Namespace, "description": &s.Description, "command": &s.Command, "cwd": &s.Cwd, "url": &s.URL}
	for _, k := range keys {
		if text := texts[k.Key]; text != nil {
			*text, _ = k.Value.(string)
		}
		switch k.Key {
		case "args":
			s.Args = []string{}
			elems, _ := k.Value.([]source.Node)
			for _, e := range elems {
				arg, _ := e.Value.(string)
				s.Args = append(s.Args, arg)
			}
		case "env":
			s.Env = pairs(k.Node)
		case "headers":
			s.Headers = pairs(k.Node)
		}
	}
	return s
}

func pairs(n source.Node) (all []Pair) {
	members, _ := n.Value.([]source.Member)
	for _, m := range members {
		text, _ := m.Value.(string)
		all = append(all, Pair{m.Key, text})
	}
	return all
}
