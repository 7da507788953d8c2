/** Any JSON object. */
export type JSONObject = Record<string, unknown>;

/** Whose tool calls are answered: "openai" is its Chat Completions. */
export type Provider = "openai" | "openai-responses" | "anthropic" | "gemini" | "xai";

/** For whom tools are written. */
export type Format = Provider | "mcp";

/** How much of the tools' definitions is left out. */
export type Slim = boolean | "max";

/** A tool as it may be described to anybody. */
export interface ToolDescription {
  server: string;
  tool: string;
  description: string;
  json_schema: JSONObject;
}

/** A tool that may be called. */
export interface Tool extends ToolDescription {
  active: boolean;
  toolsets: string[];
}

/** A call that was made: with its result, or with its error. */
export interface LogEntry {
  timestamp: string;
  server: string;
  tool: string;
  input: unknown;
  result?: unknown;
  error?: unknown;
  correlation_id?: string;
  /** Something was too long, and is null. */
  truncated?: boolean;
  /** Whose policy applied to the call. */
  agent?: string;
  /** Of MCP; missing if the call came without MCP. */
  era?: "legacy" | "modern";
  /** What the client says about itself. */
  client?: { name: string; version?: string };
  /** If only the server has recorded the call, the fields about who made it are missing. */
  recorded_by: "toolman" | "server" | "both";
}

/** Whether the gateway wants requests, and how its servers are. */
export interface Health {
  ok: boolean;
  /** Why it wants none. */
  problem?: string;
  /** Those that the client may know of; with a credential where one is needed. */
  servers?: { name: string; status: string }[];
}

/** A block of a tool result's content. */
export interface Content extends JSONObject {
  type: string;
}

/** MCP's tool result, as the server sent it. A tool that failed says so in `isError`. */
export interface ToolResult extends JSONObject {
  content?: Content[];
  structuredContent?: unknown;
  isError?: boolean;
}

/** What a call is answered. */
export interface CallResult {
  result: ToolResult;
  correlation_id: string;
}

/** The texts of a result's content, joined by newlines. */
export function textOf(result: ToolResult): string {
  const texts = (result.content ?? []).filter((block) => block.type === "text");
  return texts.map((block) => block["text"]).join("\n");
}
