export * from "./errors.js";
export { ToolGateway, type CallOptions, type GatewayOptions, type RequestOptions } from "./gateway.js";
export {
  toolCalls,
  turns,
  type FunctionCallOutput,
  type FunctionResponseTurn,
  type ToolMessage,
  type ToolResultTurn,
  type Turns,
} from "./providers.js";
export type { Retry } from "./retry.js";
export * from "./types.js";
