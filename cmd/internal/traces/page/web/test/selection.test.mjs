// The filters on calls and rows of a trace, as they are shown.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { failed } from "../src/model/calls.ts";
import { Filter } from "../src/model/filter.ts";
import { listingsOf } from "../src/model/lists.ts";
import { roundsOf, rowsOf } from "../src/model/related.ts";
import { Selection } from "../src/model/selection.ts";
import { histogram, percentile, statsOf } from "../src/model/stats.ts";
import { Trace } from "../src/model/trace.ts";
import { describe } from "../src/view/rowtext.ts";

const recorded = readFileSync("../../printer/testdata/calls.jsonl", "utf8");
const everything = { run: 0, range: undefined, byMessage: false };

function shown(trace, line, scope = everything) {
  const s = new Selection(trace, Filter.line(line));
  for (const _ of s.update());
  const t = trace.table;
  return [...s.calls(scope)].map((item) => (item < 0 ? t.text(trace.calls[~item].first, "call") : t.text(item, "event") || t.text(item, "status") || t.text(item, "method") || "?"));
}

function load(text) {
  const trace = new Trace("f0", "t");
  trace.add(text);
  return trace;
}

test("calls are shown by the filter", () => {
  const trace = load(recorded);
  assert.deepEqual(shown(trace, "tool:gh_create_issue"), ["c41"]);
  assert.deepEqual(shown(trace, "status:error"), ["c43", "c44", "notifications/cancelled"].filter((w) => w.startsWith("c")).concat("?"));
  assert.deepEqual(shown(trace, "status:pending"), ["c47"]);
  assert.deepEqual(shown(trace, "done"), ["c41"]);
  assert.deepEqual(shown(trace, "rate"), ["stderr"]);
  assert.deepEqual(shown(trace, "dur:>400ms"), ["c41", "c45", "c46"]);
  assert.deepEqual(shown(trace, "is:refused"), ["c43"]);
  assert.deepEqual(shown(trace, "status:late"), ["late"]);
});

test("a selection grows with its trace", () => {
  const lines = recorded.split("\n").filter(Boolean);
  const trace = new Trace("f0", "t");
  const s = new Selection(trace, Filter.line("status:ok"));
  for (const line of lines) {
    trace.add(line);
    for (const _ of s.update());
  }
  assert.deepEqual([...s.calls(everything)].map((item) => trace.table.text(trace.calls[~item].first, "call")), ["c1", "c41", "c45"]);
});

test("late answers and cancellations belong to their call", () => {
  const trace = load(recorded);
  const c = trace.calls.find((c) => trace.table.text(c.first, "call") === "c46");
  assert.deepEqual(rowsOf(trace, c).map((r) => r.why), ["", "", "cancellation", "", "late answer"]);
});

const frame = (us, leg, dir, kind, method, id, call, msg) =>
  JSON.stringify({ v: 1, t: "frame", us, leg, peer: leg === "client" ? "ide" : "fs", dir, kind, method, id, call, status: kind === "response" ? "ok" : undefined, bytes: 5, msg });

test("rounds of input belong together", () => {
  const legacy = load([
    frame(1, "client", "in", "request", "tools/call", 1, "c1", {}), frame(2, "upstream", "out", "request", "tools/call", 9, "c1", {}),
    frame(3, "upstream", "in", "request", "elicitation/create", 0, "c2", {}), frame(4, "client", "out", "request", "elicitation/create", 5, "c2", {}),
    frame(5, "client", "in", "response", "", 5, "c2", {}), frame(6, "upstream", "out", "response", "", 0, "c2", {}),
    frame(7, "upstream", "in", "response", "", 9, "c1", {}), frame(8, "client", "out", "response", "", 1, "c1", {}),
  ].join("\n"));
  assert.deepEqual(roundsOf(legacy, legacy.calls[0]).map((r) => [r.why, r.call.index]), [["asks for input", 1]]);
  assert.deepEqual(roundsOf(legacy, legacy.calls[1]).map((r) => [r.why, r.call.index]), [["asked for by", 0]]);
  const modern = load([
    frame(1, "client", "in", "request", "tools/call", 1, "c1", { params: {} }),
    frame(2, "client", "out", "response", "tools/call", 1, "c1", { result: { resultType: "input_required", inputRequests: {}, requestState: "s" } }),
    frame(3, "client", "in", "request", "tools/call", 2, "c2", { params: { inputResponses: {}, requestState: "s" } }),
    frame(4, "client", "out", "response", "tools/call", 2, "c2", { result: {} }),
  ].join("\n"));
  assert.deepEqual(roundsOf(modern, modern.calls[0]).map((r) => [r.why, r.call.index]), [["next round", 1]]);
  assert.deepEqual(roundsOf(modern, modern.calls[1]).map((r) => [r.why, r.call.index]), [["earlier round", 0]]);
});

test("a debugger's events belong to the message that follows", () => {
  const event = { v: 1, t: "event", us: 1, event: "held", hold: 1, leg: "client", peer: "ide", kind: "request", id: 1 };
  const trace = load([JSON.stringify(event), JSON.stringify({ ...event, event: "released", done: "edited", msg: { a: 1 } }),
    frame(2, "client", "in", "request", "tools/call", 1, "c1", { a: 2 }), frame(3, "client", "in", "request", "tools/call", 2, "c2", {})].join("\n"));
  assert.deepEqual(shown(trace, "is:held kind:call"), ["c1"]);
  assert.deepEqual(shown(trace, "is:edited"), ["released", "c1"]);
  assert.deepEqual(rowsOf(trace, trace.calls[0]).map((r) => r.why), ["debugger", "debugger", ""]);
});

test("what toolman refused is a failure in every view", () => {
  const refused = frame(2, "client", "out", "response", "tools/call", 1, "c1", { error: { code: -32602, message: "no" } }).replace('"ok"', '"local","code":-32602');
  const trace = load([frame(1, "client", "in", "request", "tools/call", 1, "c1", {}), refused,
    frame(3, "client", "in", "request", "ping", 2, "c2", {}), frame(4, "client", "out", "response", "ping", 2, "c2", { result: {} }).replace('"ok"', '"local"')].join("\n"));
  assert.deepEqual(trace.calls.map(failed), [true, false]);
  assert.deepEqual([1, 3].map((row) => describe(trace, row).failed), [true, false]);
  assert.deepEqual(shown(trace, "status:error"), ["c1"]);
  const s = new Selection(trace, Filter.line("status:error"));
  for (const _ of s.update());
  assert.deepEqual([...s.sequence({ ...everything, byMessage: true })], [1]);
});

test("lists are compared with the ones before", () => {
  const list = (us, id, tools, more) => [frame(us, "client", "in", "request", "tools/list", id, `c${id}`, { params: id === 3 ? { cursor: "x" } : {} }),
    frame(us + 1, "client", "out", "response", "tools/list", id, `c${id}`, { result: { tools, nextCursor: more } })];
  const trace = load([...list(1, 1, [{ name: "a" }, { name: "constructor", description: "x" }]), ...list(5, 2, [{ name: "a" }], "x"), ...list(9, 3, [{ name: "constructor", description: "y" }]),
    ...list(15, 4, [{ name: "constructor", description: "z" }, { name: "b" }])].join("\n"));
  assert.deepEqual(listingsOf(trace, 0).map((l) => [l.added, l.removed, l.changed.map((c) => [c.name, c.list.map((d) => d.path)]), l.count]), [
    [["a", "constructor"], [], [], 2],
    [[], [], [], 1],
    [["constructor"], [], [], 2],
    [["b"], ["a"], [["constructor", [["description"]].flat()]], 2],
  ]);
});

test("statistics are those of toolman trace --stats", () => {
  const trace = load(recorded);
  const want = JSON.parse(readFileSync("../../printer/testdata/stats-json.golden", "utf8"));
  const got = statsOf(trace, trace.calls).map((s) => ({
    tool: s.tool, calls: s.calls, errors: s.errors, pending: s.pending, p50_us: percentile(s.total, 50), p95_us: percentile(s.total, 95), p99_us: percentile(s.total, 99),
    own_p50_us: percentile(s.own, 50), bytes: s.bytes,
  }));
  assert.deepEqual(got, want);
  assert.equal(histogram([1, 10, 11, 5e8]).reduce((a, b) => a + b), 4);
});
