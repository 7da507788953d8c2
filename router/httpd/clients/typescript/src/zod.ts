import { toJSONSchema, type ZodType } from "zod";

import type { JSONObject, ToolDescription } from "./types.js";

/** A tool whose arguments a Zod schema describes. */
export interface ZodTool {
  name: string;
  description?: string;
  schema: ZodType;
}

/**
 * The tool as POST /tools has it. Its JSON Schema is what a caller has to send, so what has a default is optional. It is of 2020-12,
 * MCP's own, unless another draft is asked for: servers on the TypeScript SDK 1 list draft-7.
 */
export function describe(server: string, tool: ZodTool, target: "draft-2020-12" | "draft-7" = "draft-2020-12"): ToolDescription {
  const json_schema = toJSONSchema(tool.schema, { io: "input", target }) as JSONObject;
  return { server, tool: tool.name, description: tool.description ?? tool.schema.description ?? "", json_schema };
}
