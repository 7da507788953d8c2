// Two files compared, as toolman trace diff --json does it.

import { formatCount, formatDuration } from "../model/duration.ts";
import { get } from "../source/live.ts";
import type { App, Panel } from "./app.ts";
import { button, el } from "./dom.ts";
import { changeTable } from "./message.ts";

interface Side {
  readonly file?: string;
  readonly id?: string;
  readonly calls?: number;
}

interface Outcome {
  readonly status?: string;
  readonly code?: number;
  readonly us?: number;
  readonly total_us?: number;
  readonly call?: string;
}

interface Place {
  readonly path?: string;
  readonly order?: boolean;
  readonly a?: unknown;
  readonly b?: unknown;
}

interface Pair {
  readonly state?: string;
  readonly moved?: boolean;
  readonly by?: string;
  readonly method?: string;
  readonly name?: string;
  readonly a?: Outcome;
  readonly b?: Outcome;
  readonly request?: readonly Place[];
  readonly response?: readonly Place[];
  readonly slower?: boolean;
  readonly faster?: boolean;
}

export interface Comparison {
  readonly equal?: boolean;
  readonly a?: Side;
  readonly b?: Side;
  readonly same?: number;
  readonly changed?: number;
  readonly removed?: number;
  readonly added?: number;
  readonly moved?: number;
  readonly calls?: readonly Pair[];
  readonly notifications?: readonly { readonly method?: string; readonly a?: number; readonly b?: number }[];
  readonly ignored?: readonly { readonly rule?: string; readonly count?: number }[];
}

const MAX_PAIRS = 500;
const MAX_OPEN = 12; // places of a pair that is shown unfolded

export class ComparedPanel implements Panel {
  readonly name = "diff";
  readonly label = "Diff";
  #comparison: Comparison | undefined;
  #problem = "";
  #asked = false;
  #onlyDifferent = true;
  readonly #live: boolean;

  constructor(embedded: unknown) {
    this.#live = embedded === undefined;
    if (typeof embedded === "object" && embedded !== null) this.#comparison = embedded as Comparison;
  }

  available(app: App): boolean {
    return this.#comparison !== undefined || (this.#live && app.traces.length > 1 && app.whole !== undefined);
  }

  draw(into: HTMLElement, app: App): void {
    if (into.dataset["drawn"] === this.name && this.#asked) return;
    into.dataset["drawn"] = this.name;
    this.#asked = true;
    if (this.#comparison) this.#show(into, app);
    else this.#ask(into, app);
  }

  #ask(into: HTMLElement, app: App): void {
    into.replaceChildren(el("p", "quiet", {}, "comparing…"));
    const [a, b] = app.traces;
    get("/diff", { a: a?.id ?? "", b: b?.id ?? "" }).then(async (answer) => {
      this.#comparison = (await answer.json()) as Comparison;
      this.#problem = "";
    }, (e: unknown) => {
      this.#problem = (e as Error).message;
    }).finally(() => {
      if (into.dataset["drawn"] === this.name) this.#show(into, app);
    });
  }

  #show(into: HTMLElement, app: App): void {
    const again = this.#live ? button("compare again", "small", () => this.#ask(into, app)) : undefined;
    const c = this.#comparison;
    if (!c || this.#problem) {
      into.replaceChildren(el("p", "problem", {}, `The files cannot be compared: ${this.#problem}`), ...(again ? [again] : []));
      return;
    }
    const pairs = (c.calls ?? []).filter((p) => !this.#onlyDifferent || differs(p));
    const toggle = button(this.#onlyDifferent ? "show all calls" : "show only differences", "small", () => {
      this.#onlyDifferent = !this.#onlyDifferent;
      this.#show(into, app);
    });
    const side = (s: Side | undefined) => `${s?.file ?? ""}${s?.id ? ` run ${s.id}` : ""} (${formatCount(s?.calls ?? 0)} calls)`;
    into.replaceChildren(
      el("p", "", {}, el("strong", "", {}, c.equal ? "= equal  " : "≠ different  "), el("span", "quiet", {}, "− "), side(c.a), el("span", "quiet", {}, "   + "), side(c.b)),
      el("p", "", {}, [`${c.same ?? 0} the same`, `~ ${c.changed ?? 0} changed`, `− ${c.removed ?? 0} only before`, `+ ${c.added ?? 0} only after`, `⇅ ${c.moved ?? 0} in another order`].join(" · ")),
      el("div", "tools", {}, toggle, again),
      ...(c.notifications ?? []).map((n) => el("p", "", {}, `◆ ${n.method ?? ""}: − ${n.a ?? 0}  + ${n.b ?? 0}`)),
      ...pairs.slice(0, MAX_PAIRS).map((p) => pair(app, p)),
      ...(pairs.length > MAX_PAIRS ? [el("p", "quiet", {}, `${pairs.length - MAX_PAIRS} more are not shown; toolman trace diff prints all.`)] : []),
      ...(c.ignored?.length ? [el("p", "quiet", {}, "Ignored: " + c.ignored.map((i) => `${i.rule ?? ""} (${i.count ?? 0})`).join(", "))] : []));
  }
}

function differs(p: Pair): boolean {
  return !(p.a && p.b) || p.moved === true || p.slower === true || p.faster === true || (p.request?.length ?? 0) > 0 || (p.response?.length ?? 0) > 0;
}

function pair(app: App, p: Pair): HTMLElement {
  const symbol = !p.b ? "−" : !p.a ? "+" : p.request?.length || p.response?.length ? "~" : p.moved ? "⇅" : "=";
  const outcome = (o: Outcome | undefined) => (o ? `${o.status ?? ""}${o.code ? " " + o.code : ""} ${o.total_us ? formatDuration(o.total_us) : ""}` : "absent");
  const words = [p.moved ? "in another order" : "", p.slower ? "slower" : "", p.faster ? "faster" : ""].filter(Boolean).join(", ");
  const head = el("summary", "", {}, el("span", "symbol", {}, symbol), " ", el("span", "method", {}, p.method ?? ""), " ", el("strong", "", {}, p.name ?? ""),
    el("span", "quiet", {}, `  − ${outcome(p.a)}  + ${outcome(p.b)}  ${words}`));
  const tables: HTMLElement[] = [];
  for (const [label, places] of [["Request", p.request], ["Response", p.response]] as const) {
    if (places?.length) tables.push(el("h2", "part", {}, label), changeTable(places.map(difference)));
  }
  const places = (p.request?.length ?? 0) + (p.response?.length ?? 0);
  const show = [p.a, p.b].map((o, i) => (o ? showButton(app, i, o, p.method ?? "") : undefined));
  return el("details", `change ${symbol === "−" ? "before" : symbol === "+" ? "after" : ""}`, { open: places > 0 && places <= MAX_OPEN }, head,
    el("div", "tools", {}, ...show), ...tables);
}

/** Makes a button that shows a call in its own file. */
function showButton(app: App, side: number, o: Outcome, method: string): HTMLElement | undefined {
  const trace = app.traces[side];
  const t = trace?.table;
  const call = trace?.calls.find((c) => t?.col.us[c.first] === o.us && t?.text(c.first, "method") === method);
  if (!trace || !call) return undefined;
  return button(side ? "show after" : "show before", "small", () => {
    app.choose(trace, 0);
    app.setView("calls");
    app.go(call);
  });
}

function difference(p: Place): { path: string; before: string | undefined; after: string | undefined } {
  const json = (v: unknown) => (v === undefined ? undefined : JSON.stringify(v));
  return { path: (p.path ?? "") + (p.order ? " (order)" : ""), before: json(p.a), after: json(p.b) };
}
