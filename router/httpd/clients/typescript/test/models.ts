import assert from "node:assert/strict";

import type * as client from "@mcp-tool-gateway/client";

/** What a model of each API says and hears. */
export interface Model {
  call(number: number, name: string, args: client.JSONObject): client.JSONObject;
  reply(calls: client.JSONObject[]): client.JSONObject;
  /** The ids and texts of the results in turns. */
  results(turns: any[]): [id: string, text: string][];
}

const chat: Model = {
  call: (number, name, args) => ({ id: `call_${number}`, type: "function", function: { name, arguments: JSON.stringify(args) } }),
  reply: (calls) => ({ choices: [{ message: { role: "assistant", content: null, tool_calls: calls } }] }),
  results: (turns) => turns.map((turn) => (assert.equal(turn.role, "tool"), [turn.tool_call_id, JSON.stringify(turn.content)])),
};

export const models: Record<client.Provider, Model> = {
  openai: chat,
  xai: chat,
  "openai-responses": {
    call: (number, name, args) => ({ type: "function_call", call_id: `call_${number}`, name, arguments: JSON.stringify(args) }),
    reply: (calls) => ({ output: [{ type: "reasoning", summary: [] }, ...calls] }),
    results: (turns) => turns.map((turn) => [turn.call_id, JSON.stringify(turn.output)]),
  },
  anthropic: {
    call: (number, name, input) => ({ type: "tool_use", id: `toolu_${number}`, name, input }),
    reply: (calls) => ({ role: "assistant", content: [{ type: "text", text: "Let me see." }, ...calls] }),
    results: (turns) => only(turns).content.map((r: any) => [r.tool_use_id, JSON.stringify(r.content)]),
  },
  gemini: {
    call: (number, name, args) => ({ functionCall: { id: `call_${number}`, name, args } }),
    reply: (calls) => ({ candidates: [{ content: { role: "model", parts: calls } }] }),
    results: (turns) => only(turns).parts.map(({ functionResponse: r }: any) => [r.id, JSON.stringify(r.response)]),
  },
};

function only(turns: any[]): any {
  assert.equal(turns.length, 1);
  assert.equal(turns[0].role, "user");
  return turns[0];
}
