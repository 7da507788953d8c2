// Models of all providers use the real gateway: their tools, their calls and the results.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";

import * as client from "@mcp-tool-gateway/client";

import type { Contract } from "./contract.js";
import { models } from "./models.js";
import { json, sdkTypes } from "./sdks.js";
import { connect, contractOf, files, skip } from "./real.js";

describe("the real gateway, used by a model", { skip }, () => {
  const poem = "Tyger Tyger, burning bright";
  let contract: Contract;
  let gateway: client.ToolGateway;
  const answers = new Map<string, unknown[]>();

  before(async () => {
    contract = await contractOf();
    gateway = connect(contract);
  });

  for (const format of ["openai", "openai-responses", "anthropic", "gemini", "xai", "mcp"] as const) {
    test(`tools are written for ${format}`, async () => {
      const tools = await gateway.tools({ server: "fs", format });
      assert.match(JSON.stringify(tools), /"mcp__fs__read_text_file"/);
      const slim = await gateway.tools({ server: "fs", format, slim: true });
      assert.equal(slim.length, tools.length);
      assert.ok(JSON.stringify(slim).length <= JSON.stringify(tools).length);
    });
  }

  for (const [name, model] of Object.entries(models)) {
    test(`a model's calls become the next turns: ${name}`, async () => {
      const reply = model.reply([
        model.call(1, "mcp__fs__read_text_file", { path: join(files, "root", "poem.txt") }),
        model.call(2, "mcp__memory__create_entities", { entities: [{ name, entityType: "api", observations: ["was here"] }] }),
        model.call(3, "mcp__fs__read_minds", {}),
        model.call(4, "mcp__ev__get-tiny-image", {}),
      ]);
      const turns = await gateway.answer(name as client.Provider, reply);
      answers.set(name, turns);
      const [one, two, three, four] = model.results(turns);
      assert.deepEqual([one, two, three, four].map((result) => result?.[0].slice(-2)), ["_1", "_2", "_3", "_4"]);
      assert.ok(one?.[1].includes(poem));
      assert.match(three?.[1] ?? "", /read_minds/);
      const seen = name === "anthropic" || name === "openai-responses"; // the others take no images as results
      assert.match(four?.[1] ?? "", seen ? /iVBORw0KGgo/ : /\[image image\/png, \d+ bytes/);
      const { result } = await gateway.callTool("memory", "open_nodes", { names: [name] });
      assert.match(client.textOf(result), /was here/);
    });
  }

  test("tools and results are of the types of the providers' own SDKs", async () => {
    const lines = [json];
    for (const [format, [tool, turn]] of Object.entries(sdkTypes)) {
      const tools = await gateway.tools({ format: format as client.Provider });
      assert.match(JSON.stringify(tools), /mcp__ev__/);
      lines.push(`export const tools_${lines.length}: ${tool}[] = ${JSON.stringify(tools)};`);
      lines.push(`export const turns_${lines.length}: ${turn}[] = ${JSON.stringify(answers.get(format))};`);
    }
    const file = join("build", "types.ts");
    await writeFile(file, lines.join("\n"));
    const tsc = join("node_modules", "typescript", "bin", "tsc");
    const options = ["--noEmit", "--strict", "--skipLibCheck", "--ignoreConfig", "--module", "nodenext", "--target", "es2022", "--types", "node"];
    const { status, stdout } = spawnSync(process.execPath, [tsc, ...options, file], { encoding: "utf8" });
    assert.equal(status, 0, stdout);
  });

  test("a reply without calls ends the loop", async () => {
    assert.deepEqual(await gateway.answer("anthropic", models.anthropic.reply([])), []);
  });

  test("the answers were checked", () => assert.ok(contract.checked.has("/execute 200")));
});
