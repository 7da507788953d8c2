package setup

import (
	"os"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/configfile"
	"toolman/router/catalog"
)

// Flags choose a configuration and what it is resolved for.
type Flags struct {
	Config  string // --config
	Agent   string // --agent
	Service string // --service
	Task    string // --task
}

// AddTask gives a command the flags --agent, --service and --task.
func (f *Flags) AddTask(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Agent, "agent", "", "`name` of the agent in agent_policies (default: none)")
	cmd.Flags().StringVar(&f.Service, "service", "", "`name` of what the agent works on, for task_rules")
	cmd.Flags().StringVar(&f.Task, "task", "", "`text` that describes the task, for task_rules")
}

// Find finds the configuration.
func (f *Flags) Find() (configfile.Location, error) {
	dir, err := os.Getwd()
	if err != nil {
		return configfile.Location{}, err
	}
	return configfile.Find(f.Config, os.Getenv, dir)
}

// Load finds and reads the configuration.
func (f *Flags) Load() (*config.Config, configfile.Location, error) {
	at, err := f.Find()
	if err != nil {
		return nil, at, err
	}
	c, err := config.Load(at.Path, f.Options())
	return c, at, err
}

// Options returns the options with which to read the configuration.
func (f *Flags) Options() config.Options {
	return config.Options{Agent: f.Agent, Service: f.Service, Task: f.Task, CheckGlob: func(pattern string) error {
		_, err := catalog.CompileGlobs([]string{pattern})
		return err
	}}
}

// HTTPOptions returns Options for a configuration whose [http] table is used.
func (f *Flags) HTTPOptions() config.Options {
	o := f.Options()
	o.HTTP = true
	return o
}
