// An agent of every provider does a task with real servers: its own SDK, its own shapes, a model that follows a script.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test, type TestContext } from "node:test";

import type { Provider, ToolGateway } from "@mcp-tool-gateway/client";

import { apis, withoutIds, type Api } from "./apis.js";
import type { Contract } from "./contract.js";
import { Endpoint } from "./endpoint.js";
import { loops } from "./loops.js";
import { connect, contractOf, files, skip } from "./real.js";
import { fileOf, noteOf, script } from "./script.js";

describe("an agent", { skip }, () => {
  let contract: Contract;
  let gateway: ToolGateway;

  before(async () => {
    contract = await contractOf();
    gateway = connect(contract);
  });

  for (const format of Object.keys(apis) as Provider[]) {
    test(`of ${format}`, (t) => agent(t, format, `agent-${format}`, apis[format]));
  }
  test("of gemini, whose calls have no ids", (t) => agent(t, "gemini", "agent-without-ids", withoutIds));

  async function agent(t: TestContext, format: Provider, name: string, api: Api): Promise<void> {
    const turns = script(name, files);
    const endpoint = new Endpoint(api, turns);
    t.after(() => endpoint.close());

    const last = await loops[format](await endpoint.listen(), gateway, "Write a note, and remember it.");

    assert.equal(last, `I remember ${noteOf(name)}.`);
    assert.equal(endpoint.played, turns.length);
    assert.ok(endpoint.offered.includes("mcp__fs__write_file") && !endpoint.offered.includes("mcp__memory__delete_entities"));
    assert.equal(await readFile(fileOf(name, files), "utf8"), noteOf(name));
    assert.deepEqual(await remembered(name), ["was here", noteOf(name)]);
  }
});

/** The observations of an entity, from the file of the server memory. */
async function remembered(name: string): Promise<string[] | undefined> {
  const lines = (await readFile(join(files, "..", "memory", "memory.jsonl"), "utf8")).split("\n");
  return lines.map((line) => JSON.parse(line)).find((entry) => entry.name === name)?.observations;
}
