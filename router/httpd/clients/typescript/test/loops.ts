// The loop of an agent with each provider's own SDK: ask the model, make its calls, tell it what came of them.
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI, type Content, type Tool } from "@google/genai";
import type { Provider, ToolGateway } from "@mcp-tool-gateway/client";
import OpenAI from "openai";

/** Has the model at url, and the tools of the gateway, do the task. Returns the model's last words. */
export type Loop = (url: string, gateway: ToolGateway, task: string) => Promise<string | null | undefined>;

const common = { apiKey: "none", maxRetries: 0 };
const model = "scripted";

const chat =
  (format: "openai" | "xai"): Loop =>
  async (baseURL, gateway, task) => {
    const { chat } = new OpenAI({ ...common, baseURL });
    const tools = await gateway.tools<OpenAI.ChatCompletionFunctionTool>({ format });
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: task }];
    for (;;) {
      const reply = await chat.completions.create({ model, messages, tools });
      const message = reply.choices[0]!.message;
      const results = await gateway.answer(format, reply);
      if (results.length === 0) return message.content;
      messages.push(message, ...results);
    }
  };

export const loops: Record<Provider, Loop> = {
  openai: chat("openai"),
  xai: chat("xai"),
  "openai-responses": async (baseURL, gateway, task) => {
    const { responses } = new OpenAI({ ...common, baseURL });
    const tools = await gateway.tools<OpenAI.Responses.FunctionTool>({ format: "openai-responses", slim: true });
    const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: task }];
    for (;;) {
      const reply = await responses.create({ model, input, tools, store: false });
      const results = await gateway.answer("openai-responses", reply);
      if (results.length === 0) return reply.output_text;
      input.push(...(reply.output as OpenAI.Responses.ResponseInputItem[]), ...results);
    }
  },
  anthropic: async (baseURL, gateway, task) => {
    const { messages } = new Anthropic({ ...common, baseURL });
    const tools = await gateway.tools<Anthropic.Tool>({ format: "anthropic" });
    const conversation: Anthropic.MessageParam[] = [{ role: "user", content: task }];
    for (;;) {
      const reply = await messages.create({ model, max_tokens: 1024, messages: conversation, tools });
      const results = await gateway.answer("anthropic", reply);
      if (results.length === 0) return reply.content.map((block) => (block.type === "text" ? block.text : "")).join("");
      conversation.push({ role: "assistant", content: reply.content }, ...results);
    }
  },
  gemini: async (baseUrl, gateway, task) => {
    const { models } = new GoogleGenAI({ apiKey: common.apiKey, httpOptions: { baseUrl } });
    const tools = await gateway.tools<Tool>({ format: "gemini" });
    const contents: Content[] = [{ role: "user", parts: [{ text: task }] }];
    for (;;) {
      const reply = await models.generateContent({ model, contents, config: { tools } });
      const results = await gateway.answer("gemini", reply);
      if (results.length === 0) return reply.text;
      contents.push(reply.candidates![0]!.content!, ...results);
    }
  },
};
