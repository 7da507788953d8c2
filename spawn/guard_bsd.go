//go:build unix && !linux

package spawn

import "syscall"

func guardAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// holdBack does nothing: nobody would wake a guard that is stopped when this process is killed.
func (g *Guard) holdBack() {}

func (g *Guard) goOn() {}
