// Calls of the real gateway, in front of real servers. Each of its answers is checked against /openapi.json.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, test } from "node:test";

import * as client from "@mcp-tool-gateway/client";
import { describe as describeTool } from "@mcp-tool-gateway/client/zod";
import { z } from "zod";

import type { Contract } from "./contract.js";
import { connect, contractOf, files, skip } from "./real.js";

describe("the real gateway", { skip }, () => {
  const poem = "Tyger Tyger, burning bright";
  let contract: Contract;
  let gateway: client.ToolGateway;

  before(async () => {
    contract = await contractOf();
    gateway = connect(contract);
  });

  test("a call is answered with the tool's own result", async () => {
    const { result, correlation_id } = await gateway.callTool(
      "fs",
      "read_text_file",
      { path: join(files, "root", "poem.txt") },
      { correlationId: "poem-1" },
    );
    assert.ok(client.textOf(result).startsWith(poem));
    assert.deepEqual([result.structuredContent, correlation_id], [{ content: client.textOf(result) }, "poem-1"]);
  });

  test("a tool that says it failed is a result", async () => {
    const { result } = await gateway.callTool("fs", "read_text_file", { path: join(files, "nothing.txt") });
    assert.ok(result.isError);
    assert.match(client.textOf(result), /ENOENT/);
  });

  for (const [server, tool, args, kind, code] of [
    ["nobody", "read_text_file", {}, client.NotFoundError, "unknown_server"],
    ["fs", "read_minds", {}, client.NotFoundError, "unknown_tool"],
    ["memory", "delete_entities", { entityNames: [] }, client.DeniedError, "denied"],
    ["fs", "read_text_file", { path: 7 }, client.InvalidRequestError, "invalid_arguments"],
    ["fs", "write_file", { path: "x", content: "x".repeat(200_000) }, client.TooLargeError, "too_large"],
    ["odd", "fail", {}, client.UpstreamError, "upstream_error"],
    ["frail", "die", {}, client.UpstreamError, "upstream_gone"],
    ["slow", "hang", {}, client.CallTimeoutError, "timeout"],
  ] as const) {
    test(`what goes wrong is told apart: ${code}`, async () => {
      await assert.rejects(gateway.callTool(server, tool, args, { correlationId: `wrong-${code}` }), (error: client.GatewayError) => {
        assert.deepEqual([error.constructor, error.code, error.correlationId], [kind, code, `wrong-${code}`]);
        if (code === "invalid_arguments") assert.match(JSON.stringify(error.details), /\/path/);
        return true;
      });
    });
  }

  test("who has no token is not let in", async () => {
    await assert.rejects(connect(contract, { token: "wrong" }).tools(), client.UnauthenticatedError);
  });

  test("tools are listed with their schemas", async () => {
    const tools = new Map((await gateway.tools()).map((tool) => [`${tool.server}/${tool.tool}`, tool]));
    assert.equal(tools.get("fs/read_text_file")?.active, true);
    assert.equal(tools.get("memory/create_entities")?.active, false);
    assert.ok(!tools.has("memory/delete_entities"));
    assert.deepEqual(new Set((await gateway.tools({ server: "memory" })).map((tool) => tool.server)), new Set(["memory"]));
  });

  test("a Zod schema is described as the server that registered it lists it", async () => {
    const listed = (await gateway.tools({ server: "memory" })).find(({ tool }) => tool === "create_entities")!;
    const entity = z.object({
      name: z.string().describe("The name of the entity"),
      entityType: z.string().describe("The type of the entity"),
      observations: z.array(z.string()).describe("An array of observation contents associated with the entity"),
    });
    const schema = z.object({ entities: z.array(entity) });
    const { active, toolsets, ...same } = listed;
    assert.deepEqual(describeTool("memory", { name: "create_entities", description: same.description, schema }, "draft-7"), same);
  });

  test("an inactive tool may be called, and is logged", async () => {
    const since = new Date(Date.now() - 1000);
    await gateway.callTool("memory", "search_nodes", { query: "first" });
    await gateway.callTool("memory", "search_nodes", { query: "second" });
    const entries = await gateway.logs({ server: "memory", since });
    const queries = entries.filter(({ tool }) => tool === "search_nodes").map(({ input }) => (input as { query: string }).query);
    assert.deepEqual(queries, ["first", "second"]);
    assert.deepEqual(await gateway.logs({ server: "memory", limit: 1 }), entries.slice(-1));
  });

  test("health names the servers", async () => {
    const { ok, servers } = await gateway.health();
    assert.ok(ok);
    assert.ok(servers?.some(({ name, status }) => name === "fs" && status === "ready"));
  });

  test("many callers at once get their own answers", async () => {
    const numbers = Array.from({ length: 64 }, (_, number) => `many-${number}`);
    const path = join(files, "root", "sub", "leaf.txt");
    const answers = await Promise.all(numbers.map((correlationId) => gateway.callTool("fs", "read_text_file", { path }, { correlationId })));
    assert.deepEqual(answers.map(({ correlation_id }) => correlation_id), numbers);
    assert.ok(answers.every(({ result }) => client.textOf(result) === "leaf"));
  });

  test("the answers were checked, by a check that fails", async () => {
    for (const answer of ["/call_tool 200", "/call_tool 404", "/tools 200", "/logs 200", "/health 200"]) {
      assert.ok(contract.checked.has(answer), answer);
    }
    await assert.rejects(contract.check("/call_tool", "post", Response.json({ result: {} })), /correlation_id/);
  });
});
