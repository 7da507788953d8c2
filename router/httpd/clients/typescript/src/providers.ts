import type { JSONObject, Provider } from "./types.js";

/** A result for OpenAI's Chat Completions, and for xAI. */
export interface ToolMessage {
  role: "tool";
  tool_call_id: string;
  content: string;
}

/** A result for OpenAI's Responses. */
export interface FunctionCallOutput {
  type: "function_call_output";
  call_id: string;
  /** A list where there are images. */
  output: string | ({ type: "input_text"; text: string } | { type: "input_image"; image_url: string })[];
}

/** The turn of the user that holds Anthropic's results. */
export interface ToolResultTurn {
  role: "user";
  content: { type: "tool_result"; tool_use_id: string; content: ResultBlock[]; is_error?: boolean }[];
}

type ResultBlock =
  | { type: "text"; text: string }
  | { type: "image"; source: { type: "base64"; media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp"; data: string } };

/** The turn of the user that holds Gemini's results. */
export interface FunctionResponseTurn {
  role: "user";
  parts: { functionResponse: { id?: string; name: string; response: JSONObject } }[];
}

/** What a conversation goes on with after a reply, by provider. */
export interface Turns {
  openai: ToolMessage;
  "openai-responses": FunctionCallOutput;
  anthropic: ToolResultTurn;
  gemini: FunctionResponseTurn;
  xai: ToolMessage;
}

type Path = readonly (string | number)[];

// What the items that are calls say they are. Gemini's have a member of their own.
const types = { openai: "function", "openai-responses": "function_call", xai: "function", anthropic: "tool_use" };

// Where a reply, or the part of one that is a message, has the list with the calls in it.
const chat: Path[] = [["choices", 0, "message", "tool_calls"], ["message", "tool_calls"], ["tool_calls"]];
const lists: Record<Provider, Path[]> = {
  openai: chat,
  "openai-responses": [["output"]],
  xai: chat,
  anthropic: [["content"]],
  gemini: [["candidates", 0, "content", "parts"], ["content", "parts"], ["parts"]],
};

/**
 * The tool calls of a model's reply, as the provider's own objects.
 *
 * The reply is an object of the provider's SDK or its JSON: a whole response, a message or a list of items. xAI's is that
 * of its HTTP API. Calls of the tools named in `leave` are left out: they are the program's own.
 */
export function toolCalls(provider: Provider, reply: unknown, leave: readonly string[] = []): JSONObject[] {
  if (!Object.hasOwn(lists, provider)) throw new TypeError(`${provider} is none of ${Object.keys(lists).join(", ")}`);
  return items(lists[provider], reply)
    .filter((item) => isCall(provider, item))
    .filter((item) => !leave.includes(nameOf(item)));
}

/** The results of tool calls as what the conversation goes on with: empty when there were none. */
export function turns(provider: Provider, results: JSONObject[]): JSONObject[] {
  if (results.length === 0 || (provider !== "anthropic" && provider !== "gemini")) return results;
  return [{ role: "user", [provider === "gemini" ? "parts" : "content"]: results }];
}

function items(paths: Path[], reply: unknown): JSONObject[] {
  if (Array.isArray(reply)) return reply;
  for (const path of paths) {
    const found = path.reduce((value, step) => (value as JSONObject | undefined | null)?.[step], reply);
    if (Array.isArray(found)) return found;
  }
  return [];
}

function isCall(provider: Provider, item: JSONObject): boolean {
  return provider === "gemini" ? item["functionCall"] !== undefined : item["type"] === types[provider];
}

function nameOf(item: JSONObject): string {
  const call = (item["function"] ?? item["functionCall"] ?? item) as { name: string };
  return call.name;
}
