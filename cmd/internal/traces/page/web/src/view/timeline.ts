// The strip with the whole time of a trace: how much happened when, what failed, and a brush that
// selects a range. Its two edges are sliders for the keyboard.

import { failed } from "../model/calls.ts";
import { formatDuration } from "../model/duration.ts";
import type { Range } from "../model/selection.ts";
import type { Trace } from "../model/trace.ts";
import { el, set, text } from "./dom.ts";

const HEIGHT = 44;
const BUCKET = 3; // pixels

export class Timeline {
  range: Range | undefined;
  whole: Range = { from: 0, to: 1 };
  onChange: () => void = () => {};
  readonly #element: HTMLElement;
  readonly #canvas = el("canvas", "", { "aria-hidden": "true" });
  readonly #brush = el("div", "brush");
  readonly #label = el("output", "range");
  readonly #edges: HTMLElement[];
  #from: number | undefined; // where a drag began

  constructor(element: HTMLElement) {
    this.#element = element;
    this.#edges = ["Start of the range", "End of the range"].map((label, i) =>
      el("div", i ? "edge right" : "edge left", { role: "slider", tabindex: 0, "aria-label": label, "aria-valuemin": 0 }));
    this.#brush.hidden = true;
    element.replaceChildren(this.#canvas, this.#brush, ...this.#edges, this.#label);
    element.addEventListener("pointerdown", (e) => this.#down(e));
    element.addEventListener("pointermove", (e) => this.#move(e));
    element.addEventListener("pointerup", (e) => this.#up(e));
    element.addEventListener("dblclick", () => this.clear());
    this.#edges.forEach((edge, i) => edge.addEventListener("keydown", (e) => this.#key(e, i)));
  }

  get shown(): Range {
    return this.range ?? this.whole;
  }

  clear(): void {
    if (!this.range) return;
    this.range = undefined;
    this.onChange();
  }

  /** Draws the calls of a run. now is the end of the time while something runs. */
  draw(trace: Trace, run: number, now: number, colors: (name: string) => string): void {
    const t = trace.table;
    let from = Infinity, to = -Infinity;
    for (let row = 0; row < t.length; row++) {
      if (run > 0 && t.col.run[row] !== run) continue;
      const at = t.col.at[row] ?? 0;
      if (at < from) from = at;
      if (at > to) to = at;
    }
    if (from > to) from = to = 0;
    if (now > to && trace.calls.some((c) => c.status === "pending" && !c.reported)) to = Math.min(now, to + 600e6);
    this.whole = { from, to: Math.max(from + 1000, to) };
    const width = this.#element.clientWidth;
    const ratio = devicePixelRatio || 1;
    this.#canvas.width = Math.max(1, width * ratio);
    this.#canvas.height = HEIGHT * ratio;
    const g = this.#canvas.getContext("2d");
    if (!g || width === 0) return;
    g.scale(ratio, ratio);
    const buckets = Math.max(1, Math.floor(width / BUCKET));
    const length = this.whole.to - this.whole.from;
    const bucket = (at: number) => Math.min(buckets - 1, Math.max(0, Math.floor(((at - from) / length) * buckets)));
    const good = new Uint32Array(buckets), bad = new Uint32Array(buckets), other = new Uint32Array(buckets);
    for (const c of trace.calls) {
      if (run > 0 && t.col.run[c.first] !== run) continue;
      const start = bucket(t.col.at[c.first] ?? 0);
      const running = c.status === "pending" && !c.reported && now > 0;
      const end = running ? buckets - 1 : bucket((t.col.at[c.first] ?? 0) + c.totalUS);
      const into = failed(c) ? bad : good;
      for (let b = start; b <= end; b++) into[b] = (into[b] ?? 0) + 1;
    }
    for (let row = 0; row < t.length; row++) {
      if ((run > 0 && t.col.run[row] !== run) || (t.col.callOf[row] ?? -1) >= 0) continue;
      const b = bucket(t.col.at[row] ?? 0);
      other[b] = (other[b] ?? 0) + 1;
    }
    let most = 1;
    for (let b = 0; b < buckets; b++) most = Math.max(most, (good[b] ?? 0) + (bad[b] ?? 0));
    const floor = HEIGHT - 8;
    const scale = (n: number) => (n === 0 ? 0 : Math.max(2, (Math.log1p(n) / Math.log1p(most)) * (floor - 4)));
    for (let b = 0; b < buckets; b++) {
      const all = scale((good[b] ?? 0) + (bad[b] ?? 0));
      const red = bad[b] ? Math.max(3, scale(bad[b] ?? 0)) : 0;
      g.fillStyle = colors("--strip");
      g.fillRect(b * BUCKET, floor - all, BUCKET - 1, all);
      g.fillStyle = colors("--bad");
      g.fillRect(b * BUCKET, floor - red, BUCKET - 1, red);
      if (other[b]) {
        g.fillStyle = colors("--faint");
        g.fillRect(b * BUCKET, floor + 2, BUCKET - 1, 3);
      }
    }
    this.#place();
  }

  #place(): void {
    const { from, to } = this.whole;
    const share = (at: number) => Math.min(1, Math.max(0, (at - from) / (to - from)));
    const a = this.range ? share(this.range.from) : 0;
    const b = this.range ? share(this.range.to) : 1;
    this.#brush.hidden = !this.range;
    this.#brush.style.left = `${a * 100}%`;
    this.#brush.style.width = `${(b - a) * 100}%`;
    [a, b].forEach((at, i) => {
      const edge = this.#edges[i];
      if (!edge) return;
      edge.style.left = `${at * 100}%`;
      const us = Math.round(at * (to - from));
      set(edge, "aria-valuemax", Math.round((to - from) / 1000));
      set(edge, "aria-valuenow", Math.round(us / 1000));
      set(edge, "aria-valuetext", formatDuration(us) + " after the start");
    });
    const shown = this.shown;
    text(this.#label, this.range ? `${formatDuration(shown.to - shown.from)} of ${formatDuration(to - from)}` : formatDuration(to - from));
  }

  #at(e: PointerEvent): number {
    const box = this.#element.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (e.clientX - box.left) / box.width));
    return this.whole.from + share * (this.whole.to - this.whole.from);
  }

  #down(e: PointerEvent): void {
    const edge = this.#edges.indexOf(e.target as HTMLElement);
    // Dragging an edge moves it; the other one stays.
    this.#from = edge === 0 ? this.shown.to : edge === 1 ? this.shown.from : this.#at(e);
    this.#element.setPointerCapture(e.pointerId);
  }

  #move(e: PointerEvent): void {
    if (this.#from === undefined) return;
    const at = this.#at(e);
    const width = Math.abs(at - this.#from) / (this.whole.to - this.whole.from) * this.#element.clientWidth;
    if (width < 4) return;
    this.range = { from: Math.min(at, this.#from), to: Math.max(at, this.#from) };
    this.#place();
  }

  #up(e: PointerEvent): void {
    if (this.#from === undefined) return;
    this.#from = undefined;
    this.#element.releasePointerCapture(e.pointerId);
    this.onChange();
  }

  #key(e: KeyboardEvent, edge: number): void {
    const { from, to } = this.whole;
    const step = ((to - from) / 100) * (e.shiftKey ? 10 : 1);
    const moves: Record<string, number> = { ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step, Home: -Infinity, End: Infinity };
    const by = moves[e.key];
    if (by === undefined) return;
    e.preventDefault();
    e.stopPropagation();
    const shown = this.shown;
    const least = (to - from) / 1000;
    if (edge === 0) this.range = { from: Math.max(from, Math.min(shown.from + by, shown.to - least)), to: shown.to };
    else this.range = { from: shown.from, to: Math.min(to, Math.max(shown.to + by, shown.from + least)) };
    if (this.range.from <= from && this.range.to >= to) this.range = undefined;
    this.#place();
    this.onChange();
  }
}
