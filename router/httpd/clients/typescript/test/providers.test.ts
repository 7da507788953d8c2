import assert from "node:assert/strict";
import { test } from "node:test";

import { toolCalls, turns, type Provider } from "@mcp-tool-gateway/client";

const chat = { id: "call_1", type: "function", function: { name: "mcp__fs__read", arguments: "{}" } };
const own = { id: "call_2", type: "function", function: { name: "weather", arguments: "{}" } };
const response = { type: "function_call", call_id: "call_1", name: "mcp__fs__read", arguments: "{}" };
const use = { type: "tool_use", id: "toolu_1", name: "mcp__fs__read", input: {} };
const text = { type: "text", text: "Let me see." };
const part = { functionCall: { name: "mcp__fs__read", args: {} } };

for (const [name, provider, reply, calls] of [
  ["chat, all of it", "openai", { choices: [{ message: { tool_calls: [chat, own] } }] }, [chat]],
  ["chat, a message", "xai", { role: "assistant", tool_calls: [chat] }, [chat]],
  ["chat, a choice", "openai", { message: { tool_calls: [chat] } }, [chat]],
  ["chat, only text", "openai", { choices: [{ message: { content: "Hello", tool_calls: null } }] }, []],
  ["chat, no choice", "openai", { choices: [] }, []],
  ["responses", "openai-responses", { output: [{ type: "reasoning" }, response] }, [response]],
  ["responses, the items", "openai-responses", [response, response], [response, response]],
  ["a message", "anthropic", { content: [text, use] }, [use]],
  ["only text, as a string", "anthropic", { content: "Hello" }, []],
  ["gemini, all of it", "gemini", { candidates: [{ content: { parts: [{ text: "Hm" }, part] } }] }, [part]],
  ["gemini, a content", "gemini", { parts: [part] }, [part]],
  ["gemini, blocked", "gemini", { candidates: [{ finishReason: "SAFETY" }] }, []],
] as [string, Provider, unknown, unknown[]][]) {
  test(`the calls of ${provider} are found: ${name}`, () => {
    assert.deepEqual(toolCalls(provider, reply, ["weather"]), calls);
  });
}

test("an unknown provider is an error", () => {
  assert.throws(() => toolCalls("claude" as Provider, {}), /claude is none of openai, openai-responses, xai, anthropic, gemini/);
});

test("results are turns of each provider", () => {
  assert.deepEqual(turns("openai", [{ a: 1 }, { b: 2 }]), [{ a: 1 }, { b: 2 }]);
  assert.deepEqual(turns("anthropic", [{ a: 1 }, { b: 2 }]), [{ role: "user", content: [{ a: 1 }, { b: 2 }] }]);
  assert.deepEqual(turns("gemini", [{ a: 1 }]), [{ role: "user", parts: [{ a: 1 }] }]);
  assert.deepEqual(turns("gemini", []), []);
});
