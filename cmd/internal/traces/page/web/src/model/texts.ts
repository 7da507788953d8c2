// Finds the texts of a filter in the rows of a trace. Lines are searched as they are: a chunk of
// 256 KiB at a time in lower case, then a hit is kept if it is in the payload. The names of a row
// are searched once each.

import { ESCAPED, type Table } from "./table.ts";

/** Which rows hold one text. */
export class TextHits {
  hits = new Uint8Array(1024);
  readonly #text: string;
  readonly #names: boolean[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  has(row: number): boolean {
    return this.hits[row] === 1;
  }

  /** Searches rows from a number on, and yields now and then, so that the page stays alive. */
  *search(t: Table, from: number): Generator<void> {
    if (this.hits.length < t.length) {
      const more = new Uint8Array(Math.max(t.length, this.hits.length * 2));
      more.set(this.hits);
      this.hits = more;
    }
    for (let row = from; row < t.length; ) {
      row = this.#chunk(t, row);
      yield;
    }
    this.#searchNames(t, from);
  }

  /** Searches the rows of one chunk from row on, and returns the row after them. */
  #chunk(t: Table, row: number): number {
    const { chunk, start, end, body, bodyEnd, flags } = t.col;
    const n = chunk[row] ?? 0;
    const whole = t.chunks[n] ?? "";
    const from = start[row] ?? 0;
    let after = row;
    while (after < t.length && chunk[after] === n) after++;
    const part = from === 0 ? whole : whole.slice(from);
    const lower = part.toLowerCase();
    if (lower.length !== part.length) {
      // A few characters are longer in lower case; then the places in both texts differ.
      for (; row < after; row++) if (t.body(row).toLowerCase().includes(this.#text)) this.hits[row] = 1;
      return after;
    }
    let at = lower.indexOf(this.#text);
    for (let r = row; r < after; r++) {
      const line = (start[r] ?? 0) - from;
      const first = line + (body[r] ?? 0);
      const last = line + (bodyEnd[r] ?? 0);
      if (((flags[r] ?? 0) & ESCAPED) !== 0) {
        if (t.body(r).toLowerCase().includes(this.#text)) this.hits[r] = 1;
        continue;
      }
      if (at < 0 || at > (end[r] ?? 0) - from) continue;
      if (at < first) at = lower.indexOf(this.#text, first);
      if (at >= 0 && at + this.#text.length <= last) {
        this.hits[r] = 1;
        at = lower.indexOf(this.#text, (end[r] ?? 0) - from);
      }
    }
    return after;
  }

  #searchNames(t: Table, from: number): void {
    for (let i = this.#names.length; i < t.names.all.length; i++) this.#names.push((t.names.all[i] ?? "").toLowerCase().includes(this.#text));
    const { method, name, peer, event } = t.col;
    const names = this.#names;
    for (let row = from; row < t.length; row++) {
      if (names[method[row] ?? 0] || names[name[row] ?? 0] || names[peer[row] ?? 0] || names[event[row] ?? 0]) this.hits[row] = 1;
    }
  }
}
