// What belongs to a call besides its frames: late answers, cancellations of the client, what a
// server asked while it worked, the events of the call, and other rounds of the same operation.

import { byToolman, type Call } from "./calls.ts";
import { find } from "./scan.ts";
import { CLIENT, EVENT, FRAME, IN, NOTIFICATION, OUT, REQUEST, RESPONSE, type Table } from "./table.ts";
import { messageKey, requestOf, type Trace } from "./trace.ts";

export interface Related {
  readonly row: number;
  readonly why: string; // empty for a frame of the call itself
}

export interface Round {
  readonly call: Call;
  readonly why: string;
}

const LOOK = 20_000; // rows after a call in which a late answer is looked for

/** Returns the rows of a call in order, with what else belongs to it. */
export function rowsOf(trace: Trace, c: Call): Related[] {
  const t = trace.table;
  const own = new Set(c.rows);
  const out: Related[] = c.rows.map((row) => ({ row, why: "" }));
  const number = t.col.call[c.first] ?? 0;
  const progress = progressTokens(t, c);
  const last = c.rows[c.rows.length - 1] ?? c.first;
  const end = Math.min(t.length, last + LOOK);
  for (let row = c.first; row < end && t.col.run[row] === t.col.run[c.first]; row++) {
    if (own.has(row) || (t.col.callOf[row] ?? -1) >= 0) continue;
    const why = reason(t, row, own, number) || (progress.size ? progressOf(t, row, progress) : "");
    if (why) out.push({ row, why });
  }
  if (c.held) {
    const keys = new Set(c.rows.map((row) => messageKey(t, row)));
    for (let row = last; row >= Math.max(0, c.first - LOOK); row--) {
      if (isHeld(t, row) && keys.has(messageKey(t, row))) out.push({ row, why: "debugger" });
    }
  }
  return out.sort((a, b) => a.row - b.row);
}

/** Reports whether a row is an event of a debugger about a message. */
export function isHeld(t: Table, row: number): boolean {
  return t.is(row, EVENT) && t.col.id[row] !== 0 && ["held", "released", "fault"].includes(t.text(row, "event"));
}

/** Says why a row without a call belongs to one; an empty string if it does not. */
function reason(t: Table, row: number, own: ReadonlySet<number>, number: number): string {
  if (isHeld(t, row)) return "";
  if (t.is(row, EVENT)) return number !== 0 && t.col.call[row] === number ? t.text(row, "event") : "";
  if (!t.is(row, FRAME)) return "";
  if (number !== 0 && t.col.call[row] === number) return "the same call";
  const dir = t.is(row, IN) ? IN : OUT;
  if (t.is(row, RESPONSE)) {
    return own.has(requestOf(t, row, t.col.id[row] ?? 0, dir === IN ? OUT : IN)) ? "late answer" : "";
  }
  if (t.is(row, NOTIFICATION) && t.text(row, "method") === "notifications/cancelled") {
    const body = t.body(row);
    const at = find(body, { start: 0, end: body.length }, ["params", "requestId"]);
    const id = at && t.names.number(body.slice(at.start, at.end));
    return id !== undefined && own.has(requestOf(t, row, id, dir)) ? "cancellation" : "";
  }
  return "";
}

/** Returns the progress tokens of a call's requests, with the leg and the peer. */
function progressTokens(t: Table, c: Call): Set<string> {
  const tokens = new Set<string>();
  for (const row of c.rows) {
    if (!t.is(row, REQUEST)) continue;
    const body = t.body(row);
    const at = body.includes('"progressToken"') ? find(body, { start: 0, end: body.length }, ["params", "_meta", "progressToken"]) : undefined;
    if (at) tokens.add(`${t.is(row, CLIENT)} ${t.col.peer[row]} ${body.slice(at.start, at.end)}`);
  }
  return tokens;
}

function progressOf(t: Table, row: number, tokens: ReadonlySet<string>): string {
  if (!t.is(row, NOTIFICATION) || t.text(row, "method") !== "notifications/progress") return "";
  const body = t.body(row);
  const at = find(body, { start: 0, end: body.length }, ["params", "progressToken"]);
  return at && tokens.has(`${t.is(row, CLIENT)} ${t.col.peer[row]} ${body.slice(at.start, at.end)}`) ? "progress" : "";
}

const asks = new Set(["sampling/createMessage", "elicitation/create", "roots/list"]);

/** Returns the other calls of the same operation: input that was asked for, and retries with it. */
export function roundsOf(trace: Trace, c: Call): Round[] {
  const out: Round[] = [];
  const t = trace.table;
  if (asks.has(t.text(c.first, "method"))) {
    const parent = asker(trace, c);
    if (parent) out.push({ call: parent, why: "asked for by" });
    return out;
  }
  for (let i = c.index + 1; i < trace.calls.length; i++) {
    const other = trace.calls[i];
    if (!other || over(trace, c, other)) break;
    if (asks.has(t.text(other.first, "method")) && asker(trace, other) === c) out.push({ call: other, why: "asks for input" });
  }
  const before = link(trace, c, -1);
  const after = link(trace, c, 1);
  if (before) out.unshift({ call: before, why: "earlier round" });
  if (after) out.push({ call: after, why: "next round" });
  return out;
}

function over(trace: Trace, c: Call, other: Call): boolean {
  return c.status !== "pending" && (trace.table.col.at[other.first] ?? 0) > (trace.table.col.at[c.first] ?? 0) + c.totalUS;
}

/** Finds the call during which a server asked something: the latest open one to the same server. */
function asker(trace: Trace, ask: Call): Call | undefined {
  const t = trace.table;
  const tap = t.run(ask.first)?.tap;
  const server = tap || t.text(ask.first, "peer");
  for (let i = ask.index - 1; i >= 0 && i > ask.index - 1000; i--) {
    const c = trace.calls[i];
    if (!c || byToolman(t, c) || over(trace, c, ask) || asks.has(t.text(c.first, "method"))) continue;
    if (c.other === server || (tap && c.tapped === tap)) return c;
  }
  return undefined;
}

/** Finds the round before or after: a retry has the requestState of the result before it. */
function link(trace: Trace, c: Call, step: 1 | -1): Call | undefined {
  const t = trace.table;
  const method = t.col.method[c.first];
  const name = t.col.name[c.first];
  const mine = step > 0 ? answerState(trace, c) : requestState(t, c);
  if (mine === undefined) return undefined;
  for (let i = c.index + step, n = 0; i >= 0 && i < trace.calls.length && n < 2000; i += step, n++) {
    const other = trace.calls[i];
    if (!other || t.col.method[other.first] !== method || t.col.name[other.first] !== name) continue;
    const theirs = step > 0 ? requestState(t, other) : answerState(trace, other);
    if (theirs !== undefined && theirs === mine) return other;
  }
  return undefined;
}

/** Returns the state that a request returns to the server; undefined if it is no retry. */
function requestState(t: Table, c: Call): string | undefined {
  const body = t.body(c.first);
  if (!body.includes('"inputResponses"') && !body.includes('"requestState"')) return undefined;
  const root = { start: 0, end: body.length };
  const at = find(body, root, ["params", "requestState"]);
  return at ? body.slice(at.start, at.end) : "";
}

/** Returns the state in a result that asks for input; undefined if it does not. */
function answerState(trace: Trace, c: Call): string | undefined {
  const t = trace.table;
  const row = answerOf(trace, c);
  if (row === undefined) return undefined;
  const body = t.body(row);
  if (!body.includes('"inputRequests"') && !body.includes('"requestState"')) return undefined;
  const at = find(body, { start: 0, end: body.length }, ["result", "requestState"]);
  return at ? body.slice(at.start, at.end) : "";
}

/** Returns the row of the response that ends a call. */
export function answerOf(trace: Trace, c: Call): number | undefined {
  const t = trace.table;
  for (let i = c.rows.length - 1; i >= 0; i--) {
    const row = c.rows[i] ?? 0;
    if (t.is(row, RESPONSE) && t.is(row, CLIENT) === t.is(c.first, CLIENT) && t.is(row, IN) !== t.is(c.first, IN)) return row;
  }
  return undefined;
}

/** Returns the row of the same message on the other leg. */
export function otherLeg(trace: Trace, c: Call, row: number): number | undefined {
  const t = trace.table;
  const kind = t.is(row, REQUEST) ? REQUEST : t.is(row, RESPONSE) ? RESPONSE : NOTIFICATION;
  const passesIn = t.is(row, IN);
  // toolman passes a message on after it got it: look back from one that went out.
  const at = c.rows.indexOf(row);
  for (let d = 1; d < c.rows.length; d++) {
    const other = c.rows[passesIn ? at + d : at - d];
    if (other === undefined) return undefined;
    if (t.is(other, kind) && t.is(other, CLIENT) !== t.is(row, CLIENT) && t.is(other, IN) !== passesIn) return other;
  }
  return undefined;
}
