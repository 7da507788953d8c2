// Runs the tests in test/ with node's own test runner, on the modules as esbuild joins them.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = mkdtempSync(join(tmpdir(), "toolman-page-"));
const entryPoints = readdirSync(join(here, "test")).filter((f) => f.endsWith(".test.mjs")).map((f) => join(here, "test", f));
await build({ entryPoints, outdir: out, outExtension: { ".js": ".mjs" }, bundle: true, platform: "node", format: "esm", logLevel: "warning" });
const tests = readdirSync(out).map((f) => join(out, f));
const { status } = spawnSync(process.execPath, ["--test", ...tests], { stdio: "inherit", cwd: here });
rmSync(out, { recursive: true });
process.exit(status ?? 1);
