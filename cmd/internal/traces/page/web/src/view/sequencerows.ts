// The rows of the sequence: one for each message and event, beside the lanes that a canvas draws.

import { formatDuration, formatSince, formatSize } from "../model/duration.ts";
import { REWRITTEN, REDACTED, TRUNCATED, CUT } from "../model/table.ts";
import type { Trace } from "../model/trace.ts";
import { el, text } from "./dom.ts";
import { draw, type Lanes } from "./lanes.ts";
import type { List, Rows } from "./list.ts";
import { describe } from "./rowtext.ts";
import { lookOf } from "./status.ts";

export interface SequenceContext {
  readonly trace: Trace;
  readonly lanes: Lanes;
  readonly laneWidth: number;
  readonly selectedItem: number | undefined;
  readonly selectedCall: number; // index; -1 for none
  readonly colors: (name: string) => string;
}

export class SequenceRows implements Rows {
  readonly #context: () => SequenceContext;
  readonly #list: () => List;
  readonly #canvas = el("canvas", "lanes", { "aria-hidden": "true" });

  constructor(context: () => SequenceContext, list: () => List) {
    this.#context = context;
    this.#list = list;
  }

  /** Puts the canvas into the list, or takes it away. */
  attach(on: boolean): void {
    if (on) this.#list().spacer.prepend(this.#canvas);
    else this.#canvas.remove();
  }

  make(): HTMLElement {
    return el("div", "row seq-row", {},
      el("span", "cell c-start", { role: "gridcell" }),
      el("span", "cell c-lanes offscreen-text", { role: "gridcell" }),
      el("span", "cell c-what", { role: "gridcell" }, el("span", "symbol"), el("span", "said"), el("span", "marks")),
      el("span", "cell c-status", { role: "gridcell" }),
      el("span", "cell c-bytes", { role: "gridcell" }));
  }

  fill(row: HTMLElement, item: number): void {
    const { trace, selectedItem, selectedCall } = this.#context();
    const t = trace.table;
    const d = describe(trace, item);
    const look = lookOf(d.status.split(" ")[0] ?? "", d.failed);
    const call = t.col.callOf[item] ?? -1;
    row.className = `row seq-row tone-${d.tone}${item === selectedItem ? " selected" : call >= 0 && call === selectedCall ? " related" : ""}`;
    const [start, lanes, what, status, bytes] = row.children;
    if (!start || !lanes || !what || !status || !bytes) return;
    text(start, formatSince(t.col.us[item] ?? 0));
    text(lanes, d.to ? `${d.from} → ${d.to}` : d.from);
    const [symbol, said, marks] = what.children;
    if (symbol) text(symbol, d.symbol);
    if (said) text(said, d.text);
    if (marks) text(marks, marksOf(trace, item));
    const took = t.col.totalUS[item] || t.col.legUS[item];
    text(status, [d.status && `${look.symbol} ${d.status}`, took ? formatDuration(took) : ""].filter(Boolean).join(" "));
    text(bytes, t.col.bytes[item] ? formatSize(t.col.bytes[item] ?? 0) : "");
  }

  window(first: number, last: number): void {
    const { trace, lanes, laneWidth, selectedCall, colors } = this.#context();
    const list = this.#list();
    draw(this.#canvas, {
      trace, lanes, items: list.items, first, last: Math.min(last, list.items.length), rowHeight: list.rowHeight, laneWidth,
      selected: selectedCall < 0 ? undefined : trace.calls[selectedCall], colors,
    });
  }
}

/** Returns the marks of a message: what toolman changed, took out or cut. */
export function marksOf(trace: Trace, row: number): string {
  const t = trace.table;
  const marks: string[] = [];
  if (t.is(row, REWRITTEN)) marks.push("✎ rewritten");
  if (t.is(row, REDACTED)) marks.push("▮ redacted");
  if (t.is(row, TRUNCATED | CUT)) marks.push("… truncated");
  return marks.join("  ");
}
