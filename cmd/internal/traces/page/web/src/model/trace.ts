// One file of the page: its table, its calls, and what changed since somebody last looked.

import { dictionary } from "./dictionary.ts";
import { Assembler, type Call } from "./calls.ts";
import { CLIENT, EVENT, FRAME, IN, NOTIFICATION, RESPONSE, SESSION, Table } from "./table.ts";

export type State = "file" | "loading" | "live" | "retry" | "ended";

/** What a breakpoint or fault did to a message, as bits of Call.held. */
export const HELD = 1, FAULT = 2, EDITED = 4;

export class Trace {
  readonly id: string;
  name: string;
  state: State = "loading";
  table = new Table();
  dirty = new Set<number>(); // calls that changed
  #assembler: Assembler;
  #held = new Map<string, number>(); // messages that a debugger held and that have not gone on

  constructor(id: string, name: string) {
    this.id = id;
    this.name = name;
    this.#assembler = new Assembler(this.table, (c) => this.dirty.add(c.index));
  }

  get calls(): readonly Call[] {
    return this.#assembler.calls;
  }

  /** Takes lines of the file, in order. */
  add(lines: string): void {
    const t = this.table;
    const from = t.length;
    t.add(lines);
    for (let row = from; row < t.length; row++) {
      const c = this.#assembler.take(row);
      if (c) {
        this.dirty.add(c.index);
        if (this.#held.size > 0) this.#attach(c, row);
      } else if (t.is(row, EVENT)) {
        this.#event(row);
      }
    }
  }

  /** Forgets everything: the file was replaced. */
  reset(): void {
    this.table = new Table();
    this.dirty = new Set();
    this.#held.clear();
    this.#assembler = new Assembler(this.table, (c) => this.dirty.add(c.index));
  }

  callOf(row: number): Call | undefined {
    const n = this.table.col.callOf[row] ?? -1;
    return n < 0 ? undefined : this.calls[n];
  }

  /** Notes the events of a debugger: the frame of their message follows. */
  #event(row: number): void {
    const t = this.table;
    const bit = heldOf(t, row);
    if (bit === 0 || t.col.id[row] === 0) return;
    if (this.#held.size > MAX_HELD) this.#held.clear();
    const key = messageKey(t, row);
    this.#held.set(key, (this.#held.get(key) ?? 0) | bit);
  }

  #attach(c: Call, row: number): void {
    const key = messageKey(this.table, row);
    const bits = this.#held.get(key);
    if (bits === undefined) return;
    this.#held.delete(key);
    c.held |= bits;
  }
}

const MAX_HELD = 1000;

/** Identifies a message by its leg, peer and ID. */
export function messageKey(t: Table, row: number): string {
  return `${t.is(row, CLIENT) ? "c" : "u"} ${t.col.peer[row]} ${t.col.id[row]}`;
}

const heldBits = dictionary<number>({ held: HELD, released: HELD, fault: HELD | FAULT });

/** Returns what a debugger's event says of its message; 0 for other rows. */
export function heldOf(t: Table, row: number): number {
  const bits = t.is(row, EVENT) ? heldBits[t.text(row, "event")] ?? 0 : 0;
  return bits === HELD && t.field(row, "done") === "edited" ? HELD | EDITED : bits;
}

/** Reports whether a row stands by itself in the table of calls. */
export function isSingle(t: Table, row: number): boolean {
  if (t.is(row, SESSION | EVENT)) return true;
  return (t.col.callOf[row] ?? -1) < 0 && t.is(row, FRAME);
}

/** Returns who sent a row, and to whom. */
export function ends(t: Table, row: number, self: string): { from: string; to: string } {
  const peer = t.text(row, "peer") || (t.is(row, CLIENT) ? "client" : self);
  if (!t.is(row, FRAME)) return { from: peer, to: "" };
  return t.is(row, IN) ? { from: peer, to: self } : { from: self, to: peer };
}

/**
 * Finds the row of the request that a response without a call or a cancellation of the client is
 * about, looking backwards.
 */
export function requestOf(t: Table, row: number, id: number, dir: number): number {
  const leg = t.is(row, CLIENT);
  for (let r = row - 1; r >= 0 && t.col.run[r] === t.col.run[row]; r--) {
    if (t.col.id[r] === id && t.is(r, dir) && t.is(r, CLIENT) === leg && t.col.peer[r] === t.col.peer[row] && !t.is(r, RESPONSE | NOTIFICATION)) return r;
  }
  return -1;
}
