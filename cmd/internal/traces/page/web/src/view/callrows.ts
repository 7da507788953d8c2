// The rows of the table of calls: a line for each call, with its time as a bar, and between them
// what belongs to no call: events, stray output, lone notifications.

import { byToolman, peers } from "../model/calls.ts";
import { formatDuration, formatSince, formatSize } from "../model/duration.ts";
import { isRefusal } from "../model/subject.ts";
import { el, set, text } from "./dom.ts";
import type { Rows } from "./list.ts";
import { describe } from "./rowtext.ts";
import { lookOf, lookOfCall } from "./status.ts";
import type { Range } from "../model/selection.ts";
import type { Trace } from "../model/trace.ts";

export interface CallContext {
  readonly trace: Trace;
  readonly shown: Range; // of the timeline
  readonly selectedItem: number | undefined;
  readonly now: number; // microseconds since 1970; 0 if nothing runs
}

export const columns = ["#", "start", "from → to", "call", "status", "total", "own", "bytes", "time"] as const;

export class CallRows implements Rows {
  readonly #context: () => CallContext;

  constructor(context: () => CallContext) {
    this.#context = context;
  }

  make(): HTMLElement {
    const row = el("div", "row call-row");
    for (const name of columns) row.append(el("span", "cell c-" + classOf(name), { role: "gridcell" }));
    row.lastElementChild?.append(el("i", "bar"));
    return row;
  }

  fill(row: HTMLElement, item: number): void {
    const { trace, selectedItem, shown, now } = this.#context();
    const t = trace.table;
    const cells = row.children;
    const cell = (i: number) => cells[i] as HTMLElement;
    row.classList.toggle("selected", item === selectedItem);
    const bar = cell(8).firstElementChild as HTMLElement;
    if (item >= 0) {
      const d = describe(trace, item);
      const look = lookOf(d.status, d.failed);
      row.className = `row call-row single tone-${d.tone}${item === selectedItem ? " selected" : ""}`;
      text(cell(0), d.symbol);
      text(cell(1), formatSince(t.col.us[item] ?? 0));
      text(cell(2), d.to ? `${d.from} → ${d.to}` : d.from);
      text(cell(3), d.text);
      text(cell(4), d.status ? `${look.symbol} ${d.status}` : "");
      text(cell(5), "");
      text(cell(6), "");
      text(cell(7), t.col.bytes[item] ? formatSize(t.col.bytes[item] ?? 0) : "");
      place(bar, shown, t.col.at[item] ?? 0, 0, 0);
      return;
    }
    const c = trace.calls[~item];
    if (!c) return;
    const look = lookOfCall(c);
    row.className = `row call-row tone-${look.tone}${item === selectedItem ? " selected" : ""}`;
    const { from, to } = peers(t, c);
    const pending = c.status === "pending";
    const at = t.col.at[c.first] ?? 0;
    const running = pending && now > 0 ? Math.max(0, now - at) : 0;
    text(cell(0), t.text(c.first, "call").replace(/^c/, ""));
    text(cell(1), formatSince(t.col.us[c.first] ?? 0));
    text(cell(2), `${from} → ${to}`);
    name(cell(3), t.text(c.first, "method"), t.text(c.first, "name"), c.error || (isRefusal(c.verdict) ? c.verdict : ""));
    text(cell(4), `${look.symbol} ${c.status}${c.code ? " " + c.code : ""}${c.late ? " late" : ""}`);
    text(cell(5), pending ? (running ? formatDuration(running) + "…" : "") : formatDuration(c.totalUS));
    text(cell(6), c.answered && !byToolman(t, c) && !c.tapped ? formatDuration(c.ownUS) : "");
    text(cell(7), `>${formatSize(c.in)} <${formatSize(c.out)}`);
    place(bar, shown, at, pending ? running : c.totalUS, c.totalUS && !c.tapped ? c.ownUS / c.totalUS : 0);
    set(row, "aria-label", undefined);
  }
}

function classOf(name: string): string {
  return { "#": "n", "from → to": "peers" }[name] ?? name;
}

/** Shows a method quietly, the name of its item plainly, and an error after them. */
function name(cell: HTMLElement, method: string, item: string, error: string): void {
  if (cell.childElementCount !== 3) cell.replaceChildren(el("span", "method"), el("span", "item"), el("span", "problem"));
  const [m, i, p] = cell.children;
  if (m) {
    m.className = item ? "method" : "";
    text(m, method + (item ? " " : ""));
  }
  if (i) text(i, item);
  if (p) text(p, error ? "  " + error.slice(0, 300) : "");
}

/** Puts a bar where its time is in the range that is shown. */
function place(bar: HTMLElement, shown: Range, at: number, length: number, own: number): void {
  const whole = Math.max(1, shown.to - shown.from);
  const left = Math.min(1, Math.max(0, (at - shown.from) / whole));
  const right = Math.min(1, Math.max(left, (at + length - shown.from) / whole));
  bar.style.left = `${(left * 100).toFixed(2)}%`;
  bar.style.width = `${((right - left) * 100).toFixed(2)}%`;
  bar.style.setProperty("--own", `${Math.round(Math.min(1, own) * 100)}%`);
}

