import assert from "node:assert/strict";
import { test } from "node:test";

import { describe } from "@mcp-tool-gateway/client/zod";
import { z } from "zod";

test("a tool is described by what a caller has to send", () => {
  const schema = z.object({ path: z.string(), head: z.number().default(10), since: z.string().transform(Number).optional() });
  assert.deepEqual(describe("fs", { name: "read", schema: schema.describe("Reads a file.") }), {
    server: "fs",
    tool: "read",
    description: "Reads a file.",
    json_schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      description: "Reads a file.",
      type: "object",
      properties: { path: { type: "string" }, head: { default: 10, type: "number" }, since: { type: "string" } },
      required: ["path"],
    },
  });
});

test("what no JSON Schema can say is an error", () => {
  assert.throws(() => describe("fs", { name: "read", schema: z.object({ at: z.date() }) }));
});
