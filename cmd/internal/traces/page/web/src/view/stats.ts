// Statistics: how long the calls of each tool took, what they carry, and toolman's share.

import { formatCount, formatDuration, formatSize } from "../model/duration.ts";
import { bounds, histogram, percentile, statsOf, tokens, type ToolStats } from "../model/stats.ts";
import type { App, Panel } from "./app.ts";
import { el } from "./dom.ts";

const MAX_TOOLS = 300;

export class StatsPanel implements Panel {
  readonly name = "stats";
  readonly label = "Statistics";
  #timer = 0;

  available(): boolean {
    return true;
  }

  draw(into: HTMLElement, app: App): void {
    // A live trace changes all the time; its statistics do so twice a second.
    if (this.#timer && into.dataset["drawn"] === this.name) return;
    into.dataset["drawn"] = this.name;
    this.#timer = window.setTimeout(() => {
      this.#timer = 0;
    }, 500);
    const scroll = into.scrollTop;
    into.replaceChildren(...content(app));
    into.scrollTop = scroll;
  }
}

function content(app: App): HTMLElement[] {
  const scope = app.scope;
  const t = app.trace.table;
  const calls = app.trace.calls.filter((c) => app.selection.hasCall(c.index) && (scope.run === 0 || t.col.run[c.first] === scope.run) && app.inRange(c));
  const tools = statsOf(app.trace, calls);
  if (tools.length === 0) return [el("p", "quiet", {}, "No call matches the filter.")];
  const sum = (of: (s: ToolStats) => number) => tools.reduce((n, s) => n + of(s), 0);
  const own = sum((s) => s.forwarded);
  const server = sum((s) => s.server);
  const errors = sum((s) => s.errors);
  const results = sum((s) => s.resultBytes);
  const card = (label: string, value: string, note: string) => el("div", "card", {}, el("span", "quiet", {}, label), el("strong", "", {}, value), el("span", "quiet", {}, note));
  return [
    el("div", "cards", {},
      card("Calls", formatCount(calls.length), `${formatCount(sum((s) => s.pending))} pending`),
      card("Errors", formatCount(errors), `${((100 * errors) / Math.max(1, calls.length)).toFixed(1)} % of the calls`),
      ...(server === 0 ? [] : [card("At servers", formatDuration(server), "of calls that they answered")]),
      ...(server === 0 ? [] : [card("In toolman", formatDuration(own), `${((100 * own) / Math.max(1, own + server)).toFixed(own < server / 10 ? 2 : 0)} % of their time`)]),
      card("Results", formatSize(results), `about ${formatCount(tokens(results))} tokens`)),
    table(tools.slice(0, MAX_TOOLS)),
    el("p", "quiet", {}, `Only what the filter selects is counted. Tokens are estimated as bytes / 4.3, as toolman check does. `
      + `The bars of a distribution end at ${bounds.slice(0, 4).map(formatDuration).join(", ")} … ${formatDuration(bounds[bounds.length - 1] ?? 0)}.`),
  ];
}

function table(tools: readonly ToolStats[]): HTMLElement {
  const heads = ["tool or method", "calls", "errors", "pending", "p50", "p95", "p99", "own p50", "distribution", "bytes", "result tokens"];
  const time = (values: readonly number[], p: number) => (values.length ? formatDuration(percentile(values, p)) : "–");
  return el("div", "scroll", { tabindex: 0, role: "region", "aria-label": "Statistics by tool" }, el("table", "stats", {},
    el("thead", "", {}, el("tr", "", {}, ...heads.map((h) => el("th", "", { scope: "col" }, h)))),
    el("tbody", "", {}, ...tools.map((s) => el("tr", s.errors ? "has-errors" : "", {},
      el("th", "", { scope: "row" }, s.tool),
      el("td", "", {}, formatCount(s.calls)), el("td", s.errors ? "problem" : "quiet", {}, s.errors ? `✕ ${formatCount(s.errors)}` : "0"),
      el("td", "quiet", {}, formatCount(s.pending)),
      el("td", "", {}, time(s.total, 50)), el("td", "", {}, time(s.total, 95)), el("td", "", {}, time(s.total, 99)), el("td", "quiet", {}, time(s.own, 50)),
      el("td", "", {}, bars(s)), el("td", "", {}, formatSize(s.bytes)), el("td", "", {}, formatCount(tokens(s.resultBytes))))))));
}

/** Draws a histogram with marks at p50, p95 and p99. */
function bars(s: ToolStats): HTMLElement {
  const counts = histogram(s.total);
  const most = Math.max(1, ...counts);
  const said = counts.map((n, i) => (n ? `${n} up to ${formatDuration(bounds[i] ?? Infinity)}` : "")).filter(Boolean).join(", ");
  const box = el("div", "histogram", { role: "img", "aria-label": `Times of ${s.tool}: ${said || "none"}`, title: said });
  const marks = new Map<number, string>();
  for (const p of [50, 95, 99]) if (s.total.length) marks.set(barOf(percentile(s.total, p)), `p${p}`);
  counts.forEach((n, i) => {
    const bar = el("i", marks.has(i) ? `marked ${marks.get(i) ?? ""}` : "");
    bar.style.height = `${n ? Math.max(2, (n / most) * 22) : 0}px`;
    box.append(bar);
  });
  return box;
}

function barOf(value: number): number {
  const at = bounds.findIndex((b) => value <= b);
  return at < 0 ? bounds.length : at;
}

