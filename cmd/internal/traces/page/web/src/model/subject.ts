// Calls and rows as subjects of a filter. One object serves for all of them in turn: a filter looks
// at 100,000 of them while a person types.

import { byToolman, failed, failedRow, TOOLMAN, type Call } from "./calls.ts";
import type { Subject } from "./filter.ts";
import type { TextHits } from "./texts.ts";
import { CLIENT, EVENT, FRAME, IN, INVALID, NOTIFICATION, OUT, REDACTED, REQUEST, RESPONSE, REWRITTEN, SESSION, TRUNCATED, UPSTREAM, type Table } from "./table.ts";
import { EDITED, FAULT, heldOf } from "./trace.ts";

function kinds(flags: number): string[] {
  const out: string[] = [];
  if (flags & REQUEST) out.push("request");
  if (flags & RESPONSE) out.push("response");
  if (flags & NOTIFICATION) out.push("notification");
  if (flags & INVALID) out.push("invalid");
  if (flags & EVENT) out.push("event");
  if (flags & SESSION) out.push("session");
  return out;
}

const both = (flags: number, a: number, an: string, b: number, bn: string): string[] =>
  [flags & a ? an : "", flags & b ? bn : ""].filter((s) => s !== "");

function traits(flags: number, held: number, verdict: string, late: boolean): string[] {
  const out: string[] = [];
  if (held) out.push("held");
  if (held & FAULT) out.push("fault");
  if (held & EDITED) out.push("edited");
  if (flags & REDACTED) out.push("redacted");
  if (flags & TRUNCATED) out.push("truncated");
  if (flags & REWRITTEN) out.push("rewritten");
  if (isRefusal(verdict)) out.push("refused");
  if (late) out.push("late");
  return out;
}

/** Reports whether toolman refused the name. */
export function isRefusal(verdict: string): boolean {
  return !["", "active", "allow", "allowed", "confirmed", "local"].includes(verdict);
}

export class CallSubject implements Subject {
  #call!: Call;
  readonly #table: Table;
  readonly #hits: readonly TextHits[];

  constructor(table: Table, hits: readonly TextHits[]) {
    this.#table = table;
    this.#hits = hits;
  }

  of(c: Call): this {
    this.#call = c;
    return this;
  }

  get peers(): string[] {
    const c = this.#call;
    const list = [this.#table.text(c.first, "peer"), c.other];
    if (byToolman(this.#table, c)) list.push(TOOLMAN);
    return list;
  }
  get methods(): string[] {
    return [this.#table.text(this.#call.first, "method")];
  }
  get names(): string[] {
    return [this.#table.text(this.#call.first, "name"), this.#call.target];
  }
  get ids(): string[] {
    return this.#call.rows.map((row) => this.#table.text(row, "id"));
  }
  get events(): string[] {
    return [];
  }
  get kinds(): string[] {
    return ["call", ...kinds(this.#call.traits)];
  }
  get dirs(): string[] {
    return both(this.#call.traits, IN, "in", OUT, "out");
  }
  get legs(): string[] {
    return both(this.#call.traits, CLIENT, "client", UPSTREAM, "upstream");
  }
  get traits(): string[] {
    const c = this.#call;
    return traits(c.traits, c.held, c.verdict, c.late || c.status === "late");
  }
  get run(): string {
    return this.#table.run(this.#call.first)?.name ?? "";
  }
  get call(): string {
    return this.#table.text(this.#call.first, "call");
  }
  get status(): string {
    return this.#call.status;
  }
  get code(): number {
    return this.#call.code;
  }
  get failed(): boolean {
    return failed(this.#call);
  }
  get bytes(): number {
    return this.#call.in + this.#call.out;
  }
  get durNS(): number {
    return this.#call.totalUS * 1000;
  }
  get texts(): boolean[] {
    return this.#hits.map((h) => this.#call.rows.some((row) => h.has(row)));
  }
}

export class RowSubject implements Subject {
  #row = 0;
  readonly #table: Table;
  readonly #hits: readonly TextHits[];

  constructor(table: Table, hits: readonly TextHits[]) {
    this.#table = table;
    this.#hits = hits;
  }

  of(row: number): this {
    this.#row = row;
    return this;
  }

  get #flags(): number {
    return this.#table.col.flags[this.#row] ?? 0;
  }
  get peers(): string[] {
    const flags = this.#flags;
    return [this.#table.text(this.#row, "peer"), flags & CLIENT ? "client" : flags & UPSTREAM ? "upstream" : ""];
  }
  get methods(): string[] {
    return [this.#table.text(this.#row, "method")];
  }
  get names(): string[] {
    return [this.#table.text(this.#row, "name")];
  }
  get ids(): string[] {
    return [this.#table.text(this.#row, "id")];
  }
  get events(): string[] {
    return [this.#table.text(this.#row, "event")];
  }
  get kinds(): string[] {
    return kinds(this.#flags);
  }
  get dirs(): string[] {
    return both(this.#flags, IN, "in", OUT, "out");
  }
  get legs(): string[] {
    return both(this.#flags, CLIENT, "client", UPSTREAM, "upstream");
  }
  get traits(): string[] {
    return traits(this.#flags, heldOf(this.#table, this.#row), this.#table.text(this.#row, "verdict"), this.status === "late");
  }
  get run(): string {
    return this.#table.run(this.#row)?.name ?? "";
  }
  get call(): string {
    return this.#table.text(this.#row, "call");
  }
  get status(): string {
    return this.#table.text(this.#row, "status");
  }
  get code(): number {
    return this.#table.col.code[this.#row] ?? 0;
  }
  get failed(): boolean {
    const flags = this.#flags;
    return failedRow(this.#table, this.#row) || ((flags & INVALID) !== 0 && (flags & FRAME) !== 0);
  }
  get bytes(): number {
    return this.#table.col.bytes[this.#row] ?? 0;
  }
  get durNS(): number {
    return ((this.#table.col.totalUS[this.#row] || this.#table.col.legUS[this.#row]) ?? 0) * 1000;
  }
  get texts(): boolean[] {
    return this.#hits.map((h) => h.has(this.#row));
  }
}
