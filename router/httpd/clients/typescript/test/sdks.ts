import type Anthropic from "@anthropic-ai/sdk";
import type { Content } from "@google/genai";
import type { Turns } from "@mcp-tool-gateway/client";
import type OpenAI from "openai";

type Fits<Theirs, Ours extends Theirs> = Ours;

/** This compiles: what answer() returns goes into the conversations of the providers' own SDKs. xAI is used with OpenAI's. */
export type Answers = [
  Fits<OpenAI.ChatCompletionMessageParam, Turns["openai"]>,
  Fits<OpenAI.ChatCompletionMessageParam, Turns["xai"]>,
  Fits<OpenAI.Responses.ResponseInputItem, Turns["openai-responses"]>,
  Fits<Anthropic.MessageParam, Turns["anthropic"]>,
  Fits<Content, Turns["gemini"]>,
];

/**
 * Source text: an SDK's type as its JSON may be written. An enum is its strings; Gemini's SDK has 64-bit integers as strings, its
 * API takes numbers, too.
 */
export const json =
  "type JSONOf<T> = T extends string ? (string extends T ? T | number : `${T}`) : T extends object ? { [K in keyof T]: JSONOf<T[K]> } : T;";

/** Source text: what each SDK takes as tools. */
export const sdkTools = {
  openai: 'import("openai").OpenAI.ChatCompletionFunctionTool[]',
  xai: 'import("openai").OpenAI.ChatCompletionFunctionTool[]',
  "openai-responses": 'import("openai").OpenAI.Responses.FunctionTool[]',
  anthropic: 'import("@anthropic-ai/sdk").Anthropic.Tool[]',
  gemini: 'JSONOf<import("@google/genai").Tool[]>',
};
