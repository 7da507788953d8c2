// What of a trace is shown: the calls and rows that match the filter, in one run, in a range of
// time. It grows with the trace: only new rows and changed calls are looked at again.

import type { Filter } from "./filter.ts";
import { CallSubject, RowSubject } from "./subject.ts";

import { TextHits } from "./texts.ts";
import { isSingle, type Trace } from "./trace.ts";

/** A range of time in microseconds since 1970. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface Scope {
  readonly run: number; // from 1; 0 is all
  readonly range: Range | undefined;
  readonly byMessage: boolean; // in the sequence, messages are filtered by themselves
}

const STEP = 4096;

export class Selection {
  readonly trace: Trace;
  readonly filter: Filter;
  #rows = new Uint8Array(1024); // 1: the row matches
  #calls = new Uint8Array(256);
  #doneRows = 0;
  #doneCalls = 0;
  readonly #hits: TextHits[];
  readonly #row: RowSubject;
  readonly #call: CallSubject;

  constructor(trace: Trace, filter: Filter) {
    this.trace = trace;
    this.filter = filter;
    this.#hits = filter.texts.map((text) => new TextHits(text));
    this.#row = new RowSubject(trace.table, this.#hits);
    this.#call = new CallSubject(trace.table, this.#hits);
  }

  /** Looks at everything that is new. It yields now and then. */
  *update(): Generator<void> {
    const t = this.trace.table;
    const calls = this.trace.calls;
    const dirty = this.trace.dirty;
    this.trace.dirty = new Set();
    for (const hits of this.#hits) yield* hits.search(t, this.#doneRows);
    this.#rows = grown(this.#rows, t.length);
    this.#calls = grown(this.#calls, calls.length);
    const all = this.filter.empty;
    while (this.#doneRows < t.length) {
      const end = Math.min(t.length, this.#doneRows + STEP);
      for (let row = this.#doneRows; row < end; row++) this.#rows[row] = all || this.filter.match(this.#row.of(row)) ? 1 : 0;
      this.#doneRows = end;
      yield;
    }
    while (this.#doneCalls < calls.length) {
      const end = Math.min(calls.length, this.#doneCalls + STEP);
      for (let i = this.#doneCalls; i < end; i++) this.#matchCall(i);
      this.#doneCalls = end;
      yield;
    }
    for (const i of dirty) this.#matchCall(i);
  }

  #matchCall(i: number): void {
    const c = this.trace.calls[i];
    if (c) this.#calls[i] = this.filter.empty || this.filter.match(this.#call.of(c)) ? 1 : 0;
  }

  hasCall(i: number): boolean {
    return this.#calls[i] === 1;
  }

  /** Returns the calls, as ~index, and the rows that belong to no call, in the order they began. */
  calls(scope: Scope): Int32Array {
    const t = this.trace.table;
    return this.#collect(scope, (row, callOf) => {
      const call = callOf < 0 ? undefined : this.trace.calls[callOf];
      if (call) {
        if (call.first !== row || !this.hasCall(callOf) || !inRange(scope, t.col.at[row] ?? 0, call.totalUS)) return undefined;
        return ~callOf;
      }
      return isSingle(t, row) && this.#rows[row] === 1 && inRange(scope, t.col.at[row] ?? 0, 0) ? row : undefined;
    });
  }

  /** Returns the rows of the sequence. */
  sequence(scope: Scope): Int32Array {
    const at = this.trace.table.col.at;
    return this.#collect(scope, (row, callOf) => {
      const match = callOf >= 0 && !scope.byMessage ? this.hasCall(callOf) : this.#rows[row] === 1;
      return match && inRange(scope, at[row] ?? 0, 0) ? row : undefined;
    });
  }

  #collect(scope: Scope, item: (row: number, callOf: number) => number | undefined): Int32Array {
    const { run, callOf } = this.trace.table.col;
    const out = new Int32Array(this.#doneRows);
    let n = 0;
    for (let row = 0; row < this.#doneRows; row++) {
      if (scope.run > 0 && run[row] !== scope.run) continue;
      const value = item(row, callOf[row] ?? -1);
      if (value !== undefined) out[n++] = value;
    }
    return out.slice(0, n);
  }
}

function inRange(scope: Scope, at: number, length: number): boolean {
  return !scope.range || (at <= scope.range.to && at + length >= scope.range.from);
}

function grown(a: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  if (a.length >= length) return a;
  const more = new Uint8Array(Math.max(length, a.length * 2));
  more.set(a);
  return more;
}

/** Returns the row of an item of a list: a call's first one. */
export function rowOf(trace: Trace, item: number): number {
  return item >= 0 ? item : (trace.calls[~item]?.first ?? 0);
}

