#!/usr/bin/env node
// Runs the toolman of the package for this platform.
'use strict';

const windows = process.platform === 'win32';
const platform = `toolman-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${platform}/bin/toolman${windows ? '.exe' : ''}`);
} catch {
  console.error(`toolman: error: the npm package ${platform}, which has the program, is not installed
toolman: hint: install toolman without --omit=optional and without a node_modules from another system; if there is no such package, toolman has no build for this platform`);
  process.exit(1);
}
const args = process.argv.slice(2);

if (process.execve && !windows) {
  process.execve(program, [program, ...args], process.env); // toolman takes the place of Node.js
}

// Windows, and a Node.js before 22.15. toolman has the standard streams themselves. The fourth one
// ends with this process, also when it is killed, and toolman with it (on Windows by itself).
const child = require('node:child_process').spawn(program, args, {
  stdio: windows ? 'inherit' : ['inherit', 'inherit', 'inherit', 'pipe'],
  env: windows ? process.env : { ...process.env, TOOLMAN_LAUNCHER: '3' },
});
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
for (const signal of signals) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`toolman: error: ${program} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  if (!signal) process.exit(code);
  for (const s of signals) process.removeAllListeners(s);
  process.kill(process.pid, signal);
});
