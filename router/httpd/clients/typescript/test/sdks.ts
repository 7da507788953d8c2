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

const openai = 'import("openai").OpenAI';
const anthropic = 'import("@anthropic-ai/sdk").Anthropic';
const genai = (name: string) => `JSONOf<import("@google/genai").${name}>`;

/** Source text: the types that each SDK has for a tool, and for what results are in a conversation. */
export const sdkTypes = {
  openai: [`${openai}.ChatCompletionFunctionTool`, `${openai}.ChatCompletionToolMessageParam`],
  xai: [`${openai}.ChatCompletionFunctionTool`, `${openai}.ChatCompletionToolMessageParam`],
  "openai-responses": [`${openai}.Responses.FunctionTool`, `${openai}.Responses.ResponseInputItem.FunctionCallOutput`],
  anthropic: [`${anthropic}.Tool`, `${anthropic}.MessageParam`],
  gemini: [genai("Tool"), genai("Content")],
};
