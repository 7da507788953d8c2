import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { differences } from "../src/model/difference.ts";
import { indent } from "../src/model/indent.ts";
import { callCommand, shellQuote } from "../src/model/quote.ts";
import { visible } from "../src/model/sanitize.ts";
import { find, members, parsePath, pathText, pathTo, skip } from "../src/model/scan.ts";
import { Table } from "../src/model/table.ts";
import { TextHits } from "../src/model/texts.ts";

test("values of JSON are found without decoding it", () => {
  const s = String.raw`{"a":[1,{"b\"]":"x\\"},null] , "k" : {"é":-1.50e3},"a":true}`;
  const root = { start: 0, end: s.length };
  const at = (path) => {
    const v = find(s, root, path);
    return v && s.slice(v.start, v.end);
  };
  assert.equal(at(["k", "é"]), "-1.50e3");
  assert.equal(at(["a"]), "true", "the last of two");
  assert.equal(at(["missing", "x"]), undefined);
  assert.equal(skip(s, 5, s.length), s.indexOf("]", 20) + 1);
  const keys = [];
  assert.ok(members(s, 0, s.length, (m) => void keys.push(m.key)));
  assert.deepEqual(keys, ["a", "k", "a"]);
  assert.deepEqual(pathTo(s, root, s.indexOf("x\\")), ["a", 1, 'b"]']);
  for (const broken of ["{", '{"a"', '{"a":', '{"a":1', "[1,", '"x', '{"a":1]']) assert.ok(!members(broken, 0, broken.length, () => {}), broken);
});

test("nesting of any depth is skipped", () => {
  const s = "[".repeat(1_000_000) + "]".repeat(1_000_000);
  assert.equal(skip(s, 0, s.length), s.length);
});

test("paths are written and read", () => {
  for (const path of [["params", "arguments", 0, "token"], ["a b", 'x"y', 12], []]) assert.deepEqual(parsePath(pathText(path)), path);
});

test("hidden characters are shown", () => {
  assert.equal(visible("plain <b>ü 語 🦊"), "plain <b>ü 語 🦊");
  assert.equal(visible("a\x1b[31m\u202eb\u200b\ufeff\u{e0041}\u3164\u2800\u00a0\n\tc\ufe0f\ue000"),
    "a\\u001b[31m\\u202eb\\u200b\\ufeff\\udb40\\udc41\\u3164\\u2800\\u00a0\\n\\tc\\ufe0f\\ue000");
  assert.equal(visible("e" + "\u0301".repeat(5)), "e" + "\u0301".repeat(4) + "\\u0301");
});

test("words survive a POSIX shell", () => {
  const words = ["plain", "", "a b", "it's", "$HOME `x` \\ \"q\"", "*?[~]", "ü\u00a0語", "-x", "a\tb\nc", "'", "{}"];
  const { stdout } = spawnSync("sh", ["-c", `printf '%s\\0' ${words.map(shellQuote).join(" ")}`], { encoding: "utf8" });
  assert.deepEqual(stdout.split("\0").slice(0, -1), words);
});

test("calls become commands", () => {
  const call = (params) => JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  assert.equal(callCommand("fs", call({ name: "read_file", arguments: { path: "it's $x" } })), `toolman call fs read_file --args '{"path":"it'\\''s $x"}'`);
  assert.equal(callCommand("fs", call({ name: "list" })), "toolman call fs list");
  assert.equal(callCommand("fs", call({ name: "-rf", arguments: { a: 1 } })), `toolman call --args '{"a":1}' -- fs -rf`);
  assert.equal(callCommand("fs", '{"method":"tools/list","params":{"name":"x"}}'), undefined);
  // The arguments are those of the message, to the byte.
  assert.equal(callCommand("fs", '{"method":"tools/call","params":{"name":"x","arguments":{"n":1.0,"big":12345678901234567890}}}'),
    `toolman call fs x --args '{"n":1.0,"big":12345678901234567890}'`);
});

test("differences of two messages", () => {
  assert.deepEqual(differences('{"id":1,"m":"x","p":{"name":"fs_a","list":[1,2]}}', '{"id":2,"m":"\\u0078","p":{"name":"a","list":[1],"new":{}}}'), [
    { path: "id", before: "1", after: "2" },
    { path: "p.name", before: '"fs_a"', after: '"a"' },
    { path: "p.list[1]", before: "2", after: undefined },
    { path: "p.new", before: undefined, after: "{}" },
  ]);
});

const frame = (n, msg) => `{"v":1,"seq":${n},"t":"frame","us":${n},"leg":"client","peer":"c","dir":"in","kind":"request","method":"m","id":${n},"bytes":9,${msg}}`;

test("texts are found in payloads only", () => {
  const t = new Table();
  t.add([
    frame(1, '"msg":{"a":"Needle"}'), frame(2, '"msg":{"seq":"x"},"redacted":["needle"]'), frame(3, '"text":"ne\\u0065dle"'),
    frame(4, '"msg":{"b":1}').replace('"method":"m"', '"method":"needles"'), "not a record needle", "", frame(5, '"msg":["İ needle"]'),
  ].join("\n"));
  t.add(frame(6, '"msg":"NEEDLE needle"'));
  const hits = new TextHits("needle");
  for (const _ of hits.search(t, 0));
  assert.equal(t.bad, 1);
  assert.deepEqual(Array.from({ length: t.length }, (_, row) => t.col.seq?.[row] ?? t.text(row, "id")).filter((_, row) => hits.has(row)), ["1", "3", "4", "5", "6"]);
});

test("a table grows piece by piece", () => {
  const t = new Table();
  for (let i = 0; i < 3000; i++) t.add(frame(i, `"msg":{"n":${i}}`));
  assert.equal(t.length, 3000);
  assert.ok(t.chunks.length < 200);
  for (const row of [0, 1, 1499, 2999]) assert.equal(t.body(row), `{"n":${row}}`);
});

test("JSON is indented without decoding it", () => {
  const s = '{"a":[1.50,-0,1e400,12345678901234567890],"a":{},"b":[ ],"c\\"":{"d":"{,:\u202e"}}';
  const shown = indent(s);
  assert.equal(shown, `{
  "a": [
    1.50,
    -0,
    1e400,
    12345678901234567890
  ],
  "a": {},
  "b": [],
  "c\\"": {
    "d": "{,:\\u202e"
  }
}`);
  assert.deepEqual(JSON.parse(shown), JSON.parse(s));
  assert.equal(indent('{"torn'), '{\n  "torn');
});
