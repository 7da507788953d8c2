// The calls of the traces in the folder TOOLMAN_TRACES, as toolman trace --json prints them. The Go
// test of this folder makes both.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Assembler, peers } from "../src/model/calls.ts";
import { Table } from "../src/model/table.ts";

const dir = process.env.TOOLMAN_TRACES;

/** Returns the calls in the order in which they are over, as toolman trace --json has them. */
function callsOf(lines) {
  const t = new Table();
  const out = [];
  const assembler = new Assembler(t, (c) => {
    const { from, to } = peers(t, c);
    out.push({
      call: t.text(c.first, "call"), us: t.col.us[c.first], from, to, method: t.text(c.first, "method"), name: t.text(c.first, "name"), target: c.target,
      status: c.status, code: c.code, verdict: c.verdict, rule: c.rule, error: c.error, total_us: c.totalUS, own_us: c.ownUS, peer_us: c.peerUS,
      in_bytes: c.in, out_bytes: c.out,
    });
  });
  // In pieces, as they come.
  for (let at = 0; at < lines.length; ) {
    let end = lines.indexOf("\n", Math.min(lines.length, at + 10_000));
    if (end < 0) end = lines.length;
    const from = t.length;
    t.add(lines.slice(at, end));
    for (let row = from; row < t.length; row++) assembler.take(row);
    at = end + 1;
  }
  assembler.endAll();
  return out;
}

const defaults = { call: "", name: "", target: "", code: 0, verdict: "", rule: "", error: "", total_us: 0, own_us: 0, peer_us: 0 };

for (const file of dir ? readdirSync(dir).filter((f) => f.endsWith(".trace")) : []) {
  test(`calls of ${file}`, () => {
    const want = readFileSync(join(dir, file.replace(".trace", ".calls")), "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line))
      .filter((c) => c.t === "call").map(({ t, ts, ...c }) => ({ ...defaults, ...c }));
    const got = callsOf(readFileSync(join(dir, file), "utf8"));
    assert.equal(got.length, want.length);
    got.forEach((c, i) => assert.deepEqual(c, want[i], `call ${i}`));
  });
}
