// The table of cases that package jsonrpc/trace/filter runs too.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Filter } from "../src/model/filter.ts";

const table = JSON.parse(readFileSync("../../../../../jsonrpc/trace/filter/testdata/cases.json", "utf8"));

function subject(s, f) {
  const traits = s.traits ?? [];
  return {
    peers: s.peers ?? [], methods: s.methods ?? [], names: s.names ?? [], ids: s.ids ?? [], events: s.events ?? [],
    kinds: traits, dirs: traits, legs: traits, traits, run: s.run ?? "", call: s.call ?? "", status: s.status ?? "", code: s.code ?? 0,
    failed: s.failed ?? false, bytes: s.bytes ?? 0, durNS: (s.dur_us ?? 0) * 1000,
    texts: f.texts.map((text) => (s.said ?? "").toLowerCase().includes(text)),
  };
}

for (const c of table.cases) {
  test(`filter ${c.line}`, () => {
    if (c.error) {
      assert.throws(() => Filter.line(c.line), { message: c.error });
      return;
    }
    const f = Filter.line(c.line);
    const got = Object.entries(table.subjects).filter(([, s]) => f.match(subject(s, f))).map(([name]) => name);
    assert.deepEqual(got.sort(), [...c.want].sort());
  });
}
