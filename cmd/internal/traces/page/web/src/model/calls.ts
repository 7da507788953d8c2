// Assembles calls from the rows of a trace, with the same results as package calls in Go, which a
// test compares. A call is a request and its outcome, on both legs.

import { decode, find } from "./scan.ts";
import { EVENT, FRAME, IN, NOTIFICATION, OUT, REQUEST, RESPONSE, SESSION, UPSTREAM, CLIENT, type Table } from "./table.ts";

export const TOOLMAN = "toolman";

export const failures = new Set(["rpc_error", "tool_error", "timeout"]);

export class Call {
  readonly index: number;
  readonly first: number; // the row of the request as it was first seen
  readonly tapped: string; // the server, if the trace is of a tap
  rows: number[] = []; // all its frames
  other = ""; // the peer on the other leg, if the request went there
  target = ""; // the name at that peer
  passed = 0; // when the request went there
  status = "pending";
  code = 0;
  verdict = "";
  rule = "";
  error = ""; // the message of an answer that is an error
  totalUS = 0;
  ownUS = 0;
  peerUS = 0;
  in = 0; // bytes into toolman on the first leg
  out = 0;
  answered = false; // by the response that ends it
  reported = false; // it is over
  late = false; // it was answered after it was over
  traits = 0; // the flags of all its frames
  held = 0; // which debug events it has, as bits of Held

  constructor(index: number, first: number, tapped: string) {
    this.index = index;
    this.first = first;
    this.tapped = tapped;
  }
}

/** Reports whether toolman itself made the request, or the server of a tap. */
export function byToolman(t: Table, c: Call): boolean {
  return t.is(c.first, OUT);
}

/** Returns the caller and the peer that was called: toolman itself only if there is no other. */
export function peers(t: Table, c: Call): { from: string; to: string } {
  const self = c.tapped || TOOLMAN;
  const peer = t.text(c.first, "peer");
  if (byToolman(t, c)) return { from: self, to: peer || self };
  return { from: peer, to: c.other || self };
}

export function failed(c: Call): boolean {
  return failures.has(c.status) || c.status === "gone" || (c.status === "local" && (c.code !== 0 || c.error !== ""));
}

/**
 * Reports whether a row is a response that is a failure of its call. An answer of toolman itself is
 * one if it is an error, as when toolman refuses a call.
 */
export function failedRow(t: Table, row: number): boolean {
  const status = t.text(row, "status");
  return failures.has(status) || (status === "local" && ((t.col.code[row] ?? 0) !== 0 || errorOf(t, row) !== ""));
}

export class Assembler {
  readonly calls: Call[] = [];
  readonly #open = new Map<string, Call>();
  readonly #table: Table;
  readonly #done: (c: Call) => void;
  #tapped = "";

  /** Gives each call to done when it is over, and again if it is answered after that. */
  constructor(table: Table, done: (c: Call) => void = () => {}) {
    this.#table = table;
    this.#done = done;
  }

  /** Takes the next row and returns the call to which it belongs. */
  take(row: number): Call | undefined {
    const t = this.#table;
    if (t.is(row, SESSION)) {
      this.endAll();
      this.#tapped = t.run(row)?.tap ?? "";
      return undefined;
    }
    if (!t.is(row, FRAME)) {
      const event = t.is(row, EVENT) ? t.text(row, "event") : "";
      if (event === "gone" || event === "exit") this.#gone(row, event === "exit");
      return undefined;
    }
    const key = this.#key(row);
    let c = this.#open.get(key);
    let over = false;
    if (c && this.#nested(c, row)) {
      this.#count(c, row);
      return c;
    }
    if (t.is(row, REQUEST)) {
      c = this.#request(key, c, row);
    } else if (t.is(row, RESPONSE)) {
      if (!c || (c.reported && !this.#sameLeg(c, row))) return undefined;
      over = this.#respond(c, row);
      if (over) this.#open.delete(key);
    } else if (t.is(row, NOTIFICATION)) {
      if (!c || t.col.call[row] === 0) return undefined;
      if (t.text(row, "method") === "notifications/cancelled" && !c.reported) {
        c.status = "cancelled";
        c.totalUS = this.#since(c, row);
        over = true;
      }
    } else {
      return undefined;
    }
    this.#count(c, row);
    if (over) this.#end(c);
    return c;
  }

  #end(c: Call): void {
    c.late = c.reported;
    this.#done(c);
    c.reported = true;
  }

  /** Identifies a call: by its number, or by its ID, peer and direction. */
  #key(row: number): string {
    const t = this.#table;
    const call = t.text(row, "call");
    if (call) return call;
    let dir = t.is(row, IN) ? IN : OUT;
    if (t.is(row, RESPONSE)) dir = dir === IN ? OUT : IN;
    return `${t.is(row, CLIENT) ? "c" : "u"}\0${t.col.peer[row]}\0${dir}\0${t.col.id[row]}`;
  }

  #sameLeg(c: Call, row: number): boolean {
    return this.#table.is(c.first, UPSTREAM) === this.#table.is(row, UPSTREAM);
  }

  /**
   * Reports whether a frame belongs to a request that the caller itself gets before its answer, as
   * legacy clients do for servers of the revision 2026-07-28.
   */
  #nested(c: Call, row: number): boolean {
    const t = this.#table;
    let opposite = t.is(row, IN) !== t.is(c.first, IN);
    if (t.is(row, RESPONSE)) opposite = !opposite;
    return opposite && this.#sameLeg(c, row);
  }

  #request(key: string, c: Call | undefined, row: number): Call {
    const t = this.#table;
    if (c && !this.#sameLeg(c, row)) {
      c.other = t.text(row, "peer");
      c.target = t.text(row, "name");
      c.passed = t.col.us[row] ?? 0;
      return c;
    }
    if (c) this.#open.set(`${key}\0${c.first}`, c); // the ID is in use: keep the earlier call
    c = new Call(this.calls.length, row, this.#tapped);
    this.calls.push(c);
    this.#open.set(key, c);
    return c;
  }

  /** Takes a response and reports whether it answers the call's first request. */
  #respond(c: Call, row: number): boolean {
    const t = this.#table;
    const took = t.col.legUS[row] || t.col.totalUS[row] || this.#since(c, row);
    c.verdict = t.text(row, "verdict") || c.verdict;
    c.rule = t.text(row, "rule") || c.rule;
    if (!this.#sameLeg(c, row)) {
      // A client's time is from when it was asked.
      c.peerUS += t.is(c.first, UPSTREAM) && c.passed > 0 ? (t.col.us[row] ?? 0) - c.passed : took;
      return false;
    }
    c.answered = true;
    c.status = t.text(row, "status") || "ok";
    c.code = t.col.code[row] ?? 0;
    c.error = errorOf(t, row);
    if (byToolman(t, c)) {
      c.totalUS = c.peerUS = took;
      return true;
    }
    c.totalUS = t.col.totalUS[row] || this.#since(c, row);
    const rest = Math.max(0, c.totalUS - c.peerUS);
    if (c.tapped) c.peerUS = c.totalUS; // all of it is the server's
    else if (t.is(c.first, UPSTREAM)) c.ownUS = rest; // older traces count the client's time as toolman's own
    else c.ownUS = t.col.ownUS[row] || rest;
    return true;
  }

  #since(c: Call, row: number): number {
    return (this.#table.col.us[row] ?? 0) - (this.#table.col.us[c.first] ?? 0);
  }

  /** Adds to the call what all frames have. */
  #count(c: Call, row: number): void {
    const t = this.#table;
    if (this.#sameLeg(c, row) && !t.is(row, NOTIFICATION)) {
      if (t.is(row, IN)) c.in += t.col.bytes[row] ?? 0;
      else c.out += t.col.bytes[row] ?? 0;
    }
    if (!c.verdict) {
      c.verdict = t.text(row, "verdict");
      c.rule = t.text(row, "rule");
    }
    c.rows.push(row);
    c.traits |= t.col.flags[row] ?? 0;
    t.col.callOf[row] = c.index;
  }

  /** Ends toolman's own requests to a server that is gone; all, if it is a tap's. */
  #gone(row: number, exit: boolean): void {
    const t = this.#table;
    for (const c of this.#sorted()) {
      if ((exit && !c.reported) || (byToolman(t, c) && t.is(c.first, UPSTREAM) && t.col.peer[c.first] === t.col.peer[row])) {
        c.status = "gone";
        c.error = t.body(row);
        c.totalUS = this.#since(c, row);
        for (const [key, open] of this.#open) if (open === c) this.#open.delete(key);
        this.#end(c);
      }
    }
  }

  /** Ends all calls: a run has ended. */
  endAll(): void {
    for (const c of this.#sorted()) if (!c.reported) this.#end(c);
    this.#open.clear();
  }

  /** Returns the open calls in the order they began. */
  #sorted(): Call[] {
    return [...this.#open.values()].sort((a, b) => a.first - b.first);
  }
}

// An error is read only as far as a person reads it.
const MAX_ERROR = 64 << 10;

/**
 * Returns the error message of a response. Only the message itself shows whether a response of
 * toolman is an error.
 */
export function errorOf(t: Table, row: number): string {
  const status = t.text(row, "status");
  if (!failures.has(status) && status !== "local") return "";
  const s = t.body(row);
  const root = { start: 0, end: s.length };
  const text = (path: (string | number)[]): string => {
    const at = find(s, root, path);
    return at && s.charCodeAt(at.start) === 34 ? decode(s.slice(at.start, Math.min(at.end, at.start + MAX_ERROR))) : "";
  };
  const isError = s.includes('"isError"') ? find(s, root, ["result", "isError"]) : undefined;
  const first = isError && s.startsWith("true", isError.start) ? find(s, root, ["result", "content", 0]) : undefined;
  if (!first) return s.includes('"error"') ? text(["error", "message"]) : "";
  const said = text(["result", "content", 0, "text"]);
  if (said.startsWith("{") && said.includes('"error"')) {
    // Results of toolman's own tools.
    try {
      const own = (JSON.parse(said) as { error?: unknown }).error;
      if (typeof own === "string" && own) return own;
    } catch {
      // It is only a text.
    }
  }
  return said;
}
