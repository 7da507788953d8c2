// The lanes of the sequence: clients, toolman, servers. A canvas draws the arrows and spans of the
// rows in sight; the rows beside it say the same in words.

import type { Call } from "../model/calls.ts";
import { failedRow, TOOLMAN } from "../model/calls.ts";
import { CLIENT, FRAME, IN, INVALID, NOTIFICATION, RESPONSE, SESSION, UPSTREAM } from "../model/table.ts";
import type { Trace } from "../model/trace.ts";

export interface Lane {
  readonly name: string;
  readonly kind: "client" | "self" | "server";
}

/** The lanes of a trace, and of each row. It grows with the trace. */
export class Lanes {
  readonly all: Lane[] = [];
  readonly #clients: string[] = [];
  readonly #servers: string[] = [];
  #selves: string[] = [];
  #done = 0;
  #runs = 0;

  /** Looks at new rows. Returns whether there are new lanes. */
  update(trace: Trace): boolean {
    const t = trace.table;
    const before = this.all.length;
    if (t.length < this.#done) {
      this.#done = this.#runs = this.#clients.length = this.#servers.length = this.#selves.length = 0;
    }
    for (; this.#runs < t.runs.length; this.#runs++) {
      const run = t.runs[this.#runs];
      add(this.#selves, run?.tap || TOOLMAN);
      for (const server of run?.servers ?? []) if (!run?.tap) add(this.#servers, server.name || '""');
    }
    let last = -1;
    for (; this.#done < t.length; this.#done++) {
      const row = this.#done;
      const peer = t.col.peer[row] ?? 0;
      if (peer === last || peer === 0) continue;
      last = peer;
      const name = t.text(row, "peer");
      if (t.is(row, CLIENT)) add(this.#clients, name);
      else if (!this.#selves.includes(name) && !(t.is(row, FRAME) === false && this.#clients.includes(name))) add(this.#servers, name);
    }
    const selves = this.#selves.length ? this.#selves : [TOOLMAN]; // a part of a file may have no first line
    const all: Lane[] = [
      ...(this.#clients.length ? this.#known() : ["client"]).map((name) => ({ name, kind: "client" as const })),
      ...selves.map((name) => ({ name, kind: "self" as const })),
      ...this.#servers.map((name) => ({ name, kind: "server" as const })),
    ];
    this.all.splice(0, this.all.length, ...all);
    return this.all.length !== before;
  }

  /** Returns the clients. Before its name is known, a client is only "client". */
  #known(): string[] {
    return this.#clients.length > 1 ? this.#clients.filter((name) => name !== "client") : this.#clients;
  }

  /** Returns the lanes between which a row goes; the same one twice for an event. */
  of(trace: Trace, row: number): [number, number] {
    const t = trace.table;
    const selfName = t.run(row)?.tap || TOOLMAN;
    const self = this.all.findIndex((l) => l.kind === "self" && l.name === selfName);
    const name = t.text(row, "peer");
    const kind = t.is(row, CLIENT) ? "client" : t.is(row, UPSTREAM) ? "server" : "";
    let peer = this.all.findIndex((l) => l.name === name && (kind === "" || l.kind === kind));
    if (peer < 0) peer = t.is(row, CLIENT) ? 0 : self;
    if (!t.is(row, FRAME)) return [peer, peer];
    return t.is(row, IN) ? [peer, self] : [self, peer];
  }
}

function add(list: string[], name: string): void {
  if (!list.includes(name)) list.push(name);
}

/** How wide the lanes are in a list of this width. */
export function laneWidth(lanes: number, width: number): number {
  const space = width < 560 ? width * 0.34 : Math.min(width * 0.42, 150 * lanes);
  return Math.max(14, Math.floor(space / lanes));
}

export interface Picture {
  readonly trace: Trace;
  readonly lanes: Lanes;
  readonly items: Int32Array;
  readonly first: number;
  readonly last: number;
  readonly rowHeight: number;
  readonly laneWidth: number;
  readonly selected: Call | undefined;
  readonly colors: (name: string) => string;
}

const SLOTS = 4;

/** Draws the rows from first to last. */
export function draw(canvas: HTMLCanvasElement, p: Picture): void {
  const { trace, lanes, rowHeight, laneWidth: w } = p;
  const width = lanes.all.length * w;
  const height = (p.last - p.first) * rowHeight;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  canvas.style.transform = `translateY(${p.first * rowHeight}px)`;
  const g = canvas.getContext("2d");
  if (!g) return;
  g.scale(ratio, ratio);
  const x = (lane: number) => Math.round(lane * w + w / 2) + 0.5;
  g.lineWidth = 1;
  g.strokeStyle = p.colors("--lane");
  for (let i = 0; i < lanes.all.length; i++) {
    g.beginPath();
    g.moveTo(x(i), 0);
    g.lineTo(x(i), height);
    g.stroke();
  }
  spans(g, p, x);
  for (let index = p.first; index < p.last; index++) {
    const row = p.items[index];
    if (row !== undefined) arrow(g, p, row, (index - p.first + 0.5) * rowHeight, x);
  }
  g.setTransform(1, 0, 0, 1, 0, 0);
  void trace;
}

/** Draws the spans of calls that are open in the rows in sight. */
function spans(g: CanvasRenderingContext2D, p: Picture, x: (lane: number) => number): void {
  const { trace, items, rowHeight } = p;
  const firstRow = items[p.first];
  const lastRow = items[p.last - 1];
  if (firstRow === undefined || lastRow === undefined) return;
  const y = (row: number) => (place(items, row) - p.first + 0.5) * rowHeight;
  const bottom = (p.last - p.first) * rowHeight;
  for (const c of openIn(trace, firstRow, lastRow)) {
    if (items[place(items, c.first)] !== c.first) continue; // not shown
    const tone = c === p.selected ? "--accent" : c.status === "pending" ? "--wait" : "--span";
    const shift = (c.index % SLOTS) * 3 - 4;
    const end = c.answered || c.reported ? y(c.rows[c.rows.length - 1] ?? c.first) : bottom;
    const [from, to] = p.lanes.of(trace, c.first);
    bar(g, x(to) + shift, y(c.first), end, p.colors(tone));
    const there = c.rows.find((row) => trace.table.is(row, UPSTREAM) !== trace.table.is(c.first, UPSTREAM));
    if (there === undefined) continue;
    const [a, b] = p.lanes.of(trace, there);
    const lane = a === to ? b : b === to ? a : from;
    let last = there;
    for (const row of c.rows) if (trace.table.is(row, UPSTREAM) === trace.table.is(there, UPSTREAM)) last = row;
    bar(g, x(lane) + shift, y(there), last === there && !c.answered && !c.reported ? bottom : y(last), p.colors(tone));
  }
}

function bar(g: CanvasRenderingContext2D, x: number, from: number, to: number, color: string): void {
  const top = Math.max(-10, from);
  g.fillStyle = color;
  g.beginPath();
  g.roundRect(x - 2, top, 4, Math.max(4, to - top), 2);
  g.fill();
}

/** Returns the calls that are open anywhere between two rows. */
function openIn(trace: Trace, first: number, last: number): Call[] {
  const out: Call[] = [];
  const calls = trace.calls;
  // The calls that begin before the last row; of those before the first one, only the latest are
  // looked at: a call that is open over thousands of others is rare.
  let high = calls.length;
  for (let low = 0; low < high; ) {
    const middle = (low + high) >> 1;
    if ((calls[middle]?.first ?? 0) <= last) low = middle + 1;
    else high = middle;
  }
  for (let i = high - 1, before = 0; i >= 0 && before < 5000; i--) {
    const c = calls[i];
    if (!c) continue;
    if (c.first < first) before++;
    const end = c.rows[c.rows.length - 1] ?? c.first;
    if (end >= first || c.status === "pending") out.push(c);
    if (out.length > 200) break;
  }
  return out;
}

/** Returns the index of the first item that is not before a row. */
export function place(items: Int32Array, row: number): number {
  let low = 0;
  for (let high = items.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((items[middle] ?? 0) < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

function arrow(g: CanvasRenderingContext2D, p: Picture, row: number, y: number, x: (lane: number) => number): void {
  const t = p.trace.table;
  const [from, to] = p.lanes.of(p.trace, row);
  const inSelected = p.selected !== undefined && p.trace.callOf(row) === p.selected;
  let color = p.colors(t.is(row, CLIENT) ? "--client" : "--server");
  if (t.is(row, INVALID) || failedRow(t, row)) color = p.colors("--bad");
  else if (inSelected) color = p.colors("--accent");
  else if (t.is(row, NOTIFICATION)) color = p.colors("--note");
  g.strokeStyle = g.fillStyle = color;
  if (from === to) {
    g.fillStyle = p.colors(eventColor(t.text(row, "event"), t.is(row, SESSION)));
    g.beginPath();
    if (t.is(row, SESSION)) g.rect(x(0), y - 0.5, x(p.lanes.all.length - 1) - x(0), 1);
    g.arc(x(from), y, 3.5, 0, 2 * Math.PI);
    g.fill();
    return;
  }
  const a = x(from), b = x(to), step = a < b ? 1 : -1;
  g.lineWidth = inSelected ? 2 : 1.25;
  g.setLineDash(t.is(row, NOTIFICATION) ? [2, 3] : t.is(row, RESPONSE) ? [5, 3] : []);
  g.beginPath();
  g.moveTo(a + 3 * step, y);
  g.lineTo(b - 6 * step, y);
  g.stroke();
  g.setLineDash([]);
  g.beginPath();
  g.moveTo(b - 2 * step, y);
  g.lineTo(b - 8 * step, y - 4);
  g.lineTo(b - 8 * step, y + 4);
  g.fill();
}

function eventColor(event: string, session: boolean): string {
  if (session) return "--accent";
  if (event === "junk" || event === "gone" || event === "drop") return "--bad";
  return event === "stderr" ? "--warn" : "--faint";
}
