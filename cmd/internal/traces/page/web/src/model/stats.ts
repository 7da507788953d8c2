// Counts the calls of each tool: how long they took, what failed, and how much they carry.

import { byToolman, failed, type Call } from "./calls.ts";
import { CLIENT } from "./table.ts";
import type { Trace } from "./trace.ts";

/** The bounds of the histogram's bars in microseconds: 1, 2 and 5 of each power of ten. */
export const bounds: readonly number[] = [10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].flatMap((n) => [n, 2 * n, 5 * n]);

export interface ToolStats {
  readonly tool: string;
  calls: number;
  errors: number;
  pending: number;
  bytes: number; // of requests and responses
  resultBytes: number; // of responses alone
  total: number[]; // times of answered calls, sorted once they are complete
  own: number[];
  forwarded: number; // toolman's part in the calls of clients that a server answered
  server: number; // and the server's
}

/** Returns what is known of each tool, or of each method without a name; the most called first. */
export function statsOf(trace: Trace, calls: Iterable<Call>): ToolStats[] {
  const t = trace.table;
  const tools = new Map<string, ToolStats>();
  for (const c of calls) {
    let name = t.text(c.first, "name") || t.text(c.first, "method");
    const own = byToolman(t, c);
    if (own) name += c.tapped ? " (by the server)" : " (by toolman)";
    let s = tools.get(name);
    if (!s) tools.set(name, (s = { tool: name, calls: 0, errors: 0, pending: 0, bytes: 0, resultBytes: 0, total: [], own: [], forwarded: 0, server: 0 }));
    s.calls++;
    s.bytes += c.in + c.out;
    s.resultBytes += own ? c.in : c.out;
    if (c.status === "pending") s.pending++;
    else if (failed(c)) s.errors++;
    if (c.answered) s.total.push(c.totalUS);
    if (c.answered && !own && !c.tapped) {
      s.own.push(c.ownUS);
      if (c.peerUS > 0 && t.is(c.first, CLIENT)) {
        s.forwarded += c.ownUS;
        s.server += c.peerUS;
      }
    }
  }
  for (const s of tools.values()) {
    s.total.sort((a, b) => a - b);
    s.own.sort((a, b) => a - b);
  }
  return [...tools.values()].sort((a, b) => b.calls - a.calls || (a.tool < b.tool ? -1 : 1));
}

/** Returns the smallest of the sorted values that p percent of them do not exceed. */
export function percentile(sorted: readonly number[], p: number): number {
  return sorted[Math.max(0, Math.floor((sorted.length * p + 99) / 100) - 1)] ?? 0;
}

/** Counts sorted values by the bar of the histogram into which they fall. */
export function histogram(sorted: readonly number[]): number[] {
  const bars = new Array<number>(bounds.length + 1).fill(0);
  let bar = 0;
  for (const value of sorted) {
    while (bar < bounds.length && value > (bounds[bar] ?? 0)) bar++;
    bars[bar] = (bars[bar] ?? 0) + 1;
  }
  return bars;
}

// As toolman check estimates them: the average for tool definitions of real servers.
const BYTES_PER_TOKEN = 4.3;

/** Estimates how many tokens of a model this many bytes are. */
export function tokens(bytes: number): number {
  return Math.floor(bytes / BYTES_PER_TOKEN);
}
