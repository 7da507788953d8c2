// The APIs of the providers as far as tools go: what each holds against a request, and what it says to the model behind it.
// Wherever a rule is checked, the real API is known to refuse the request.
import assert from "node:assert/strict";

import type { JSONObject, Provider } from "@mcp-tool-gateway/client";

import { models, type Model } from "./models.js";
import type { Heard } from "./script.js";

/** The calls of one reply, and what came back. Ids are empty where the API has none. */
export interface Exchange {
  calls: { id: string; name: string }[];
  results: ({ id: string } & Heard)[];
}

export interface Api extends Pick<Model, "call" | "reply"> {
  /** What the path of a request ends with. */
  path: string;
  /** The most tools in a request. */
  most: number;
  /** The tools of a request: their names, and their schemas. */
  tools(request: any): [name: string, parameters: any][];
  /** The conversation of a request. */
  exchanges(request: any): Exchange[];
  /** A reply that calls nothing. */
  say(text: string): JSONObject;
}

const marked = (text: string): Heard => ({ text, failed: text.startsWith("Error: ") });

const chat: Api = {
  ...models.openai,
  path: "/chat/completions",
  most: 128,
  tools: ({ tools }) => tools.map((tool: any) => (assert.equal(tool.type, "function"), [tool.function.name, tool.function.parameters])),
  exchanges({ messages }) {
    const all: Exchange[] = [];
    for (const message of messages) {
      // each call has its answer before anything else is said
      if (message.role !== "tool") assertAnswered(all.at(-1));
      if (message.role === "assistant") all.push({ calls: message.tool_calls.map((c: any) => ({ id: c.id, name: c.function.name })), results: [] });
      if (message.role === "tool") all.at(-1)!.results.push({ id: message.tool_call_id, ...marked(message.content) });
    }
    return all;
  },
  say: (content) => ({ choices: [{ message: { role: "assistant", content } }] }),
};

const responses: Api = {
  ...models["openai-responses"],
  path: "/responses",
  most: 128,
  tools: ({ tools }) => tools.map((tool: any) => (assert.deepEqual([tool.type, tool.strict], ["function", false]), [tool.name, tool.parameters])),
  exchanges({ input }) {
    const all: Exchange[] = [];
    for (const item of input) {
      if (item.type === "function_call") {
        if (all.length === 0 || all.at(-1)!.results.length > 0) all.push({ calls: [], results: [] });
        all.at(-1)!.calls.push({ id: item.call_id, name: item.name });
      }
      if (item.type === "function_call_output") all.at(-1)!.results.push({ id: item.call_id, ...marked(item.output) });
    }
    return all;
  },
  say: (text) => ({ object: "response", output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text, annotations: [] }] }] }),
};

const anthropic: Api = {
  ...models.anthropic,
  path: "/v1/messages",
  most: Infinity,
  tools: ({ tools }) => tools.map((tool: any) => [tool.name, tool.input_schema]),
  exchanges({ messages }) {
    const all: Exchange[] = [];
    for (const [i, { role, content }] of messages.entries()) {
      assert.equal(role, i % 2 === 0 ? "user" : "assistant");
      if (role === "assistant") all.push({ calls: content.filter((block: any) => block.type === "tool_use"), results: [] });
      else if (i > 0) {
        all.at(-1)!.results = content.map((block: any) => {
          assert.equal(block.type, "tool_result");
          assert.ok(!block.is_error || block.content.length > 0, "an error is said to be one, and not what");
          for (const { type, text } of block.content) assert.ok(type === "text" ? text.trim() : !block.is_error, `${type} ${text}`);
          return { id: block.tool_use_id, failed: block.is_error, text: block.content.map(({ text }: any) => text).join("\n") };
        });
        assertAnswered(all.at(-1)); // in the very next message
      }
    }
    return all;
  },
  say: (text) => ({ role: "assistant", content: [{ type: "text", text }] }),
};

/** The first of the calls of a reply is signed, and comes back so. */
const thoughtSignature = "c2lnbmVk";

const gemini: Api = {
  ...models.gemini,
  reply: ([first, ...others]) => models.gemini.reply([{ ...first, thoughtSignature }, ...others]),
  path: "/models/scripted:generateContent",
  most: 128,
  tools: ({ tools: [{ functionDeclarations }] }) => functionDeclarations.map(({ name, parameters }: any) => [name, parameters && { ...parameters, type: parameters.type.toLowerCase() }]),
  exchanges({ contents }) {
    const all: Exchange[] = [];
    for (const { role, parts } of contents.slice(1)) {
      if (role === "model") {
        assert.equal(parts[0].thoughtSignature, thoughtSignature);
        all.push({ calls: parts.map(({ functionCall: { id = "", name } }: any) => ({ id, name })), results: [] });
      } else {
        all.at(-1)!.results = parts.map(({ functionResponse: { id = "", name, response } }: any, i: number) => {
          assert.equal(name, all.at(-1)!.calls[i]!.name);
          assert.equal(Object.keys(response).length, 1);
          return { id, failed: "error" in response, text: JSON.stringify(response.error ?? response.output) };
        });
        assertAnswered(all.at(-1)); // with as many parts
      }
    }
    return all;
  },
  say: (text) => ({ candidates: [{ content: { role: "model", parts: [{ text }] } }] }),
};

export const apis: Record<Provider, Api> = { openai: chat, "openai-responses": responses, anthropic, gemini, xai: { ...chat, most: 200 } };

/** Gemini's as it is on Vertex, whose calls have no ids. */
export const withoutIds: Api = {
  ...gemini,
  call: (_, name, args) => ({ functionCall: { name, args } }),
};

/** Every call has its result, and nothing else has: in the order of the calls, which the APIs with ids don't ask for. */
export function assertAnswered(exchange: Exchange | undefined): void {
  assert.deepEqual(exchange?.results.map(({ id }) => id), exchange?.calls.map(({ id }) => id));
}

/** What any provider holds against tools. */
export function assertTools(api: Api, request: unknown): string[] {
  const tools = api.tools(request);
  const names = tools.map(([name]) => name);
  assert.ok(tools.length > 0 && tools.length <= api.most, `${tools.length} tools`);
  assert.equal(new Set(names).size, names.length, "a name stands for two tools");
  for (const [name, parameters] of tools) {
    assert.match(name, /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
    if (parameters !== undefined) assert.equal(parameters.type, "object", name);
  }
  return names;
}
