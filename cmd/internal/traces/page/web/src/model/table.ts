// The lines of a trace as columns of numbers. 100,000 lines as objects would take more memory than
// their text; as columns they take about 120 bytes each, outside the JavaScript heap. The text
// stays in the strings that it came in, and lines are slices of them.

import { dictionary } from "./dictionary.ts";
import { decode, members, type Span } from "./scan.ts";

/** Strings that occur often, by number. Number 0 is the empty string. */
export class Names {
  readonly #numbers = new Map<string, number>([["", 0]]);
  readonly all: string[] = [""];

  number(text: string): number {
    let n = this.#numbers.get(text);
    if (n === undefined) {
      n = this.all.length;
      this.all.push(text);
      this.#numbers.set(text, n);
    }
    return n;
  }
}

// Bits of a row's flags.
export const FRAME = 1, EVENT = 2, SESSION = 4;
export const CLIENT = 8, UPSTREAM = 16, IN = 32, OUT = 64;
export const REQUEST = 128, RESPONSE = 256, NOTIFICATION = 512, INVALID = 1024;
export const TRUNCATED = 2048, REDACTED = 4096, CUT = 8192, REWRITTEN = 16384;
/** The payload is a string of JSON with escapes: it must be decoded before it is searched. */
export const ESCAPED = 32768;
/** The payload is JSON, not a string that holds a text. */
export const MESSAGE = 65536;

const words = dictionary<number>({
  frame: FRAME, event: EVENT, session: SESSION, client: CLIENT, upstream: UPSTREAM, in: IN, out: OUT,
  request: REQUEST, response: RESPONSE, notification: NOTIFICATION, invalid: INVALID,
});

const u32 = ["chunk", "start", "end", "body", "bodyEnd", "flags", "peer", "method", "name", "status", "event", "verdict",
  "rule", "call", "id", "bytes", "run"] as const;
const f64 = ["at", "us", "legUS", "totalUS", "ownUS"] as const;
const i32 = ["code", "callOf"] as const;

type Columns = { [K in (typeof u32)[number]]: Uint32Array } & { [K in (typeof f64)[number]]: Float64Array } &
  { [K in (typeof i32)[number]]: Int32Array };

function columns(size: number, old?: Columns): Columns {
  const out: Record<string, Uint32Array | Float64Array | Int32Array> = {};
  const make = (names: readonly (keyof Columns)[], type: typeof Uint32Array | typeof Float64Array | typeof Int32Array) => {
    for (const name of names) {
      const column = new type(size);
      if (old) column.set(old[name]);
      out[name] = column;
    }
  };
  make(u32, Uint32Array);
  make(f64, Float64Array);
  make(i32, Int32Array);
  return out as unknown as Columns;
}

/** One run of toolman: what its session line says. */
export interface Run {
  readonly name: string;
  readonly row: number;
  readonly startedAt: number; // microseconds since 1970
  readonly tap: string;
  readonly debug: string;
  readonly servers: readonly { readonly name: string; readonly command: string }[];
  readonly config: string;
  readonly toolman: string;
}

/** The text of a payload: [start, end) of text. */
export interface Body extends Span {
  readonly text: string;
}

const MERGE_BELOW = 8 << 10;

export class Table {
  length = 0;
  bad = 0; // lines that are no records
  col = columns(1024);
  readonly names = new Names();
  readonly chunks: string[] = [];
  readonly runs: Run[] = [];

  /**
   * Adds the lines of a text, which ends at the end of a line. Returns how many rows that made.
   * Small texts join the one before, so that a live trace is not 100,000 strings.
   */
  add(text: string): number {
    const before = this.length;
    const last = this.chunks.length - 1;
    const tail = this.chunks[last];
    let chunk = last + 1;
    let from = 0;
    if (tail !== undefined && tail.length + text.length < MERGE_BELOW) {
      chunk = last;
      from = tail.length + 1;
      this.chunks[last] = tail + "\n" + text;
    } else {
      this.chunks.push(text);
    }
    const whole = this.chunks[chunk] ?? "";
    for (let at = from; at < whole.length; ) {
      let end = whole.indexOf("\n", at);
      if (end < 0) end = whole.length;
      this.#line(whole, chunk, at, end);
      at = end + 1;
    }
    return this.length - before;
  }

  #line(text: string, chunk: number, start: number, end: number): void {
    while (end > start && text.charCodeAt(end - 1) <= 32) end--;
    if (end === start) return;
    const row = this.length;
    if (row === this.col.chunk.length) this.col = columns(row * 2, this.col);
    if (!this.#fields(text, row, start, end)) {
      for (const column of Object.values(this.col)) column[row] = 0;
      this.bad++;
      return;
    }
    this.col.chunk[row] = chunk;
    this.col.start[row] = start;
    this.col.end[row] = end;
    this.col.callOf[row] = -1;
    this.length++;
    if (this.is(row, SESSION)) this.#session(row, text.slice(start, end));
    const run = this.runs[this.runs.length - 1];
    this.col.run[row] = this.runs.length;
    // The time of the run's start and the monotonic clock: wall clocks may jump.
    if (run) this.col.at[row] = run.startedAt + (this.col.us[row] ?? 0);
  }

  /** Reads the fields of a line into a row. The payload is only skipped. */
  #fields(s: string, row: number, start: number, end: number): boolean {
    const c = this.col;
    let flags = 0;
    const ok = members(s, start, end, (m) => {
      const key = m.key as string;
      switch (key) {
        case "t":
        case "leg":
        case "dir":
        case "kind":
          flags |= words[decode(s.slice(m.start, m.end))] ?? 0;
          break;
        case "peer":
        case "method":
        case "name":
        case "status":
        case "event":
        case "verdict":
        case "rule":
        case "call":
          if (s.charCodeAt(m.start) === 34) c[key][row] = this.names.number(decode(s.slice(m.start, m.end)));
          break;
        case "id":
          c.id[row] = this.names.number(s.slice(m.start, Math.min(m.end, m.start + 1100)));
          break;
        case "us":
          c.us[row] = Number(s.slice(m.start, m.end));
          break;
        case "bytes":
        case "code":
          c[key][row] = Number(s.slice(m.start, m.end));
          break;
        case "leg_us":
          c.legUS[row] = Number(s.slice(m.start, m.end));
          break;
        case "total_us":
          c.totalUS[row] = Number(s.slice(m.start, m.end));
          break;
        case "own_us":
          c.ownUS[row] = Number(s.slice(m.start, m.end));
          break;
        case "ts":
          // Only the first line of a run needs it; a part of a file begins without one.
          if (flags & SESSION || this.runs.length === 0) c.at[row] = Date.parse(s.slice(m.start + 1, m.end - 1)) * 1000;
          break;
        case "trunc":
          if (s.startsWith("true", m.start)) flags |= TRUNCATED;
          break;
        case "redacted":
          if (!s.startsWith("false", m.start)) flags |= REDACTED;
          break;
        case "cut":
          if (s.startsWith("true", m.start)) flags |= CUT;
          break;
        case "rewrote":
          flags |= REWRITTEN;
          break;
        case "msg":
          c.body[row] = m.start - start;
          c.bodyEnd[row] = m.end - start;
          flags |= MESSAGE;
          break;
        case "text":
          if (flags & MESSAGE || s.charCodeAt(m.start) !== 34) break;
          c.body[row] = m.start + 1 - start;
          c.bodyEnd[row] = m.end - 1 - start;
          if (s.slice(m.start, m.end).includes("\\")) flags |= ESCAPED;
      }
    });
    c.flags[row] = flags;
    return ok && (flags & (FRAME | EVENT | SESSION)) !== 0;
  }

  #session(row: number, line: string): void {
    let s: Record<string, unknown> = {};
    try {
      s = JSON.parse(line) as Record<string, unknown>;
    } catch {
      // Its fields were read; what else it says is missing.
    }
    const text = (v: unknown) => (typeof v === "string" ? v : "");
    const servers = Array.isArray(s["upstreams"]) ? (s["upstreams"] as unknown[]) : [];
    this.runs.push({
      name: text(s["run"]), row, startedAt: this.col.at[row] ?? 0, tap: text(s["tap"]), debug: text(s["debug"]),
      config: text(s["config"]), toolman: text(s["toolman"]),
      servers: servers.map((u) => {
        const o = (u ?? {}) as Record<string, unknown>;
        return { name: text(o["ns"]), command: text(o["cmd"]) };
      }),
    });
  }

  is(row: number, bits: number): boolean {
    return ((this.col.flags[row] ?? 0) & bits) !== 0;
  }

  /** Returns the text of a column of names. */
  text(row: number, column: "peer" | "method" | "name" | "status" | "event" | "verdict" | "rule" | "call" | "id"): string {
    return this.names.all[this.col[column][row] ?? 0] ?? "";
  }

  /** Returns the whole line. */
  line(row: number): string {
    return (this.chunks[this.col.chunk[row] ?? 0] ?? "").slice(this.col.start[row], this.col.end[row]);
  }

  /** Returns the payload as it was on the wire, as far as the line has it. */
  body(row: number): string {
    const start = this.col.start[row] ?? 0;
    const raw = (this.chunks[this.col.chunk[row] ?? 0] ?? "").slice(start + (this.col.body[row] ?? 0), start + (this.col.bodyEnd[row] ?? 0));
    return this.is(row, ESCAPED) ? decode(`"${raw}"`) : raw;
  }

  /** Returns a field of the line that has no column, such as "rewrote". */
  field(row: number, key: string): unknown {
    const line = this.line(row);
    let value: unknown;
    members(line, 0, line.length, (m) => {
      if (m.key !== key) return true;
      try {
        value = JSON.parse(line.slice(m.start, m.end));
      } catch {
        // A broken value is none.
      }
      return false;
    });
    return value;
  }

  /** Returns the run of a row, or undefined if the file began without its first line. */
  run(row: number): Run | undefined {
    return this.runs[(this.col.run[row] ?? 0) - 1];
  }
}
