// The lists that peers got of tools, prompts and resources, and what changed from one to the next.

import { dictionary } from "./dictionary.ts";
import type { Call } from "./calls.ts";
import { differences, type Difference } from "./difference.ts";
import { answerOf } from "./related.ts";
import { decode, find, members, type Span } from "./scan.ts";
import { EVENT, MESSAGE, REQUEST, UPSTREAM } from "./table.ts";
import type { Trace } from "./trace.ts";

const keys = dictionary<[list: string, name: string]>({
  "tools/list": ["tools", "name"], "prompts/list": ["prompts", "name"], "resources/list": ["resources", "uri"],
  "resources/templates/list": ["resourceTemplates", "uriTemplate"],
});

/** One list that a peer got, or an event that changes lists. */
export interface Listing {
  readonly row: number; // of the response, or of the event
  readonly call: Call | undefined;
  readonly who: string; // whose list: a server's, or what toolman shows to a client
  readonly what: string; // the method
  readonly event: string;
  readonly count: number;
  readonly bytes: number;
  readonly whole: boolean; // false: the trace has only a part of it, or it has more pages
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly { readonly name: string; readonly list: readonly Difference[] }[];
  readonly first: boolean;
}

interface Known {
  items: Map<string, string>;
  paged: boolean;
}

/** Returns the lists of a trace in order, each compared with the one before it. */
export function listingsOf(trace: Trace, run: number): Listing[] {
  const t = trace.table;
  const out: Listing[] = [];
  for (let row = 0; row < t.length; row++) {
    if (t.is(row, EVENT) && t.text(row, "event") === "activate" && (run === 0 || t.col.run[row] === run)) {
      out.push({ row, call: undefined, who: t.text(row, "peer") || "toolman", what: "", event: t.body(row), count: 0, bytes: 0, whole: true, added: [], removed: [], changed: [], first: false });
    }
  }
  const known = new Map<string, Known>();
  for (const c of trace.calls) {
    if (!keys[t.text(c.first, "method")] || (run > 0 && t.col.run[c.first] !== run)) continue;
    const listing = take(trace, c, known);
    if (listing) out.push(listing);
  }
  return out.sort((a, b) => a.row - b.row);
}

function take(trace: Trace, c: Call, known: Map<string, Known>): Listing | undefined {
  const t = trace.table;
  const row = answerOf(trace, c);
  if (row === undefined || t.text(row, "status") === "rpc_error") return undefined;
  const what = t.text(c.first, "method");
  const peer = t.text(c.first, "peer");
  const who = t.is(c.first, UPSTREAM) ? `server ${peer}` : c.tapped ? `server ${c.tapped}, for ${peer}` : `toolman, for ${peer}`;
  const key = `${t.col.run[c.first]} ${who} ${what}`;
  const bytes = t.col.bytes[row] ?? 0;
  const base = { row, call: c, who, what, event: "", bytes };
  if (!t.is(row, MESSAGE)) return { ...base, count: 0, whole: false, added: [], removed: [], changed: [], first: !known.has(key) };
  const body = t.body(row);
  const root = { start: 0, end: body.length };
  const [list, name] = keys[what] ?? ["", ""];
  const items = new Map<string, string>();
  const at = find(body, root, ["result", list]);
  if (at) members(body, at.start, at.end, (m) => void items.set(nameOf(body, m, name), body.slice(m.start, m.end)));
  const more = find(body, root, ["result", "nextCursor"]) !== undefined;
  const request = t.body(c.first);
  const next = t.is(c.first, REQUEST) && find(request, { start: 0, end: request.length }, ["params", "cursor"]) !== undefined;
  const before = known.get(key);
  if (next && before?.paged) {
    // Another page of the same list.
    for (const [n, text] of items) before.items.set(n, text);
    before.paged = more;
    return { ...base, count: before.items.size, whole: !more, added: [...items.keys()], removed: [], changed: [], first: true };
  }
  known.set(key, { items, paged: more });
  const was = before?.items ?? new Map<string, string>();
  const changed: { name: string; list: Difference[] }[] = [];
  for (const [n, text] of items) {
    const old = was.get(n);
    if (old === undefined || old === text) continue;
    const found = differences(old, text);
    if (found.length > 0) changed.push({ name: n, list: found });
  }
  return {
    ...base, count: items.size, whole: !more, first: before === undefined, changed,
    added: [...items.keys()].filter((n) => !was.has(n)), removed: more ? [] : [...was.keys()].filter((n) => !items.has(n)),
  };
}

function nameOf(s: string, item: Span, key: string): string {
  const at = find(s, item, [key]);
  return at ? decode(s.slice(at.start, at.end)) : "?";
}
