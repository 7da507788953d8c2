// How the outcome of a call looks: a symbol and a word, besides a color.

import { dictionary } from "../model/dictionary.ts";
import { failed, type Call } from "../model/calls.ts";

export interface Look {
  readonly symbol: string;
  readonly tone: "good" | "bad" | "warn" | "wait" | "quiet";
}

export function lookOf(status: string, isFailure: boolean): Look {
  if (isFailure) return { symbol: "✕", tone: "bad" };
  switch (status) {
    case "ok":
    case "local":
    case "cached":
      return { symbol: "✓", tone: "good" };
    case "pending":
      return { symbol: "◌", tone: "wait" };
    case "cancelled":
      return { symbol: "⊘", tone: "warn" };
    case "late":
    case "orphan":
      return { symbol: "◷", tone: "warn" };
    case "invalid":
      return { symbol: "✕", tone: "bad" };
  }
  return { symbol: "", tone: "quiet" };
}

export function lookOfCall(c: Call): Look {
  return lookOf(c.status, failed(c));
}

const meanings = dictionary<string>({
  ok: "answered by the server",
  rpc_error: "answered with a JSON-RPC error",
  tool_error: "the tool reports an error",
  local: "answered by toolman itself",
  cached: "answered by toolman with an earlier result of the server",
  cancelled: "cancelled by the caller",
  timeout: "toolman has waited too long for the server",
  pending: "not answered yet",
  gone: "the server has ended before it answered",
  late: "answered after the call was over",
  orphan: "an answer to no request",
});

export function meaningOf(status: string): string {
  return meanings[status] ?? "";
}
