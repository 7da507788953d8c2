// Package installcmd is `toolman install`, `toolman uninstall` and `toolman snippet`: it registers
// toolman in the configurations of MCP clients.
//
// Other commands plan with it, too:
//
//	plan, err := installcmd.NewPlan()
//	err = plan.Write("tools.toml", path, text, 0o644)            // a file of toolman's own
//	t := program.Toolman(configPath)                             // program, err := installcmd.ThisProgram()
//	t.Env = []clients.Pair{{"GITHUB_TOKEN", value}}              // secrets that stay in the client's file
//	name, err := plan.Register(file, t)                          // file is of clients.Client.Target
//	err = plan.TakeOut(file, "github", "fetch")                  // entries that are behind toolman now
//	fmt.Print(plan.Diff())                                       // with ••• for secrets
//	err = plan.Apply(ctx)                                        // all or nothing; toolman uninstall --all undoes it
//
// A plan reads each file once, so several steps on one file are one change of it. Nothing is
// written before Apply, which fails if a file has changed since; a new plan helps then
// ([filechange.ErrChanged]).
package installcmd
