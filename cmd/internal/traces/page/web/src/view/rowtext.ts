// What a row of the trace is in words.

import { failedRow, TOOLMAN } from "../model/calls.ts";
import { FRAME, INVALID, MESSAGE, NOTIFICATION, REQUEST, SESSION } from "../model/table.ts";
import { ends, type Trace } from "../model/trace.ts";

export interface Description {
  readonly symbol: string;
  readonly from: string;
  readonly to: string; // empty for an event
  readonly text: string;
  readonly status: string;
  readonly failed: boolean;
  readonly tone: "event" | "stderr" | "junk" | "notification" | "frame" | "bad" | "session" | "held";
}

/** Returns what stands between the client and the servers: toolman, or the server of a tap. */
export function selfOf(trace: Trace, row: number): string {
  return trace.table.run(row)?.tap || TOOLMAN;
}

const MAX_TEXT = 400;

export function describe(trace: Trace, row: number): Description {
  const t = trace.table;
  const self = selfOf(trace, row);
  const { from, to } = ends(t, row, self);
  if (t.is(row, SESSION)) {
    const run = t.run(row);
    const words = [`run ${run?.name ?? ""}`, run?.toolman ? `toolman ${run.toolman}` : "", run?.tap ? `tap of ${run.tap}` : "", run?.config ?? ""];
    return { symbol: "▶", from: self, to: "", text: words.filter(Boolean).join(" · "), status: "", failed: false, tone: "session" };
  }
  if (!t.is(row, FRAME)) return event(trace, row, from);
  const method = t.text(row, "method");
  const name = t.text(row, "name");
  const title = [name, method].filter(Boolean).join("  ");
  const status = t.text(row, "status");
  const bad = failedRow(t, row);
  if (t.is(row, INVALID)) {
    const text = [title || "no message", t.text(row, "rule"), t.body(row).slice(0, MAX_TEXT)].filter(Boolean).join(": ");
    return { symbol: "✕", from, to, text, status: "invalid", failed: true, tone: "bad" };
  }
  if (t.is(row, NOTIFICATION)) return { symbol: "◆", from, to, text: title, status: "", failed: false, tone: "notification" };
  if (t.is(row, REQUEST)) return { symbol: "→", from, to, text: title, status: "", failed: false, tone: "frame" };
  const code = t.col.code[row];
  return {
    symbol: "←", from, to, text: title || "an answer to no call", status: status + (code ? ` ${code}` : ""), failed: bad, tone: bad ? "bad" : "frame",
  };
}

function event(trace: Trace, row: number, from: string): Description {
  const t = trace.table;
  const name = t.text(row, "event");
  const said = t.body(row).slice(0, MAX_TEXT);
  const base = { from, to: "", status: "", failed: false };
  switch (name) {
    case "stderr":
      return { ...base, symbol: "▪", text: said, tone: "stderr" };
    case "junk":
      return { ...base, symbol: "!", text: "not JSON on stdout: " + said, tone: "junk" };
    case "drop":
      return { ...base, symbol: "!", text: `${String(t.field(row, "count") ?? "some")} lines of this trace were dropped here`, tone: "junk" };
    case "held":
    case "released":
    case "fault":
      return { ...base, symbol: "‖", text: heldText(trace, row), tone: "held" };
  }
  return { ...base, symbol: "•", text: [name || "event", said].filter(Boolean).join(": "), tone: name === "gone" ? "junk" : "event" };
}

/** Says what a debugger did to a message. */
function heldText(trace: Trace, row: number): string {
  const t = trace.table;
  const words = (key: string, before: string) => {
    const value = t.field(row, key);
    return typeof value === "string" || typeof value === "number" ? before + String(value) : "";
  };
  const said = t.is(row, MESSAGE) ? "" : t.body(row).slice(0, MAX_TEXT);
  const message = [t.text(row, "name"), t.text(row, "method"), t.text(row, "id")].filter(Boolean).join(" ");
  return [t.text(row, "event"), words("done", ""), words("hold", "no. "), message, said].filter(Boolean).join(" · ");
}
