// The panel with everything about a call, or about a message or event without one.

import { dictionary } from "../model/dictionary.ts";
import { byToolman, peers, type Call } from "../model/calls.ts";
import { formatClock, formatDuration, formatSince, formatSize } from "../model/duration.ts";
import { callCommand } from "../model/quote.ts";
import { answerOf, roundsOf, rowsOf, type Related } from "../model/related.ts";
import { isRefusal } from "../model/subject.ts";
import { FRAME, REDACTED, REQUEST, UPSTREAM } from "../model/table.ts";
import type { Trace } from "../model/trace.ts";
import { button, copy, el } from "./dom.ts";
import { Message } from "./message.ts";
import { describe, selfOf } from "./rowtext.ts";
import { lookOfCall, meaningOf } from "./status.ts";

export interface Actions {
  /** Shows another call. */
  go(call: Call): void;
  close(): void;
  /** Gets the whole line of a cut one; undefined if there is nobody to ask. */
  whole: ((at: number) => Promise<string>) | undefined;
}

/** Shows a call, or a row that belongs to none. row is what was chosen within the call. */
export function showDetail(panel: HTMLElement, trace: Trace, call: Call | undefined, row: number, actions: Actions): void {
  const scroll = panel.scrollTop;
  const again = panel.dataset["shown"] === String(call ? call.first : row);
  panel.dataset["shown"] = String(call ? call.first : row);
  panel.replaceChildren(...(call ? callPanel(trace, call, row, actions) : rowPanel(trace, row, actions)));
  panel.scrollTop = again ? scroll : 0;
}

function heading(title: string, small: string, actions: Actions): HTMLElement {
  return el("header", "detail-head", {},
    el("h2", "", {}, el("span", "method", {}, small), " ", el("span", "item", {}, title)),
    button("✕", "icon close", actions.close, { "aria-label": "Close the details", title: "Close (Escape)" }));
}

function fact(name: string, ...value: (Node | string | undefined)[]): HTMLElement[] {
  return [el("dt", "", {}, name), el("dd", "", {}, ...value)];
}

function callPanel(trace: Trace, c: Call, row: number, actions: Actions): HTMLElement[] {
  const t = trace.table;
  const { from, to } = peers(t, c);
  const look = lookOfCall(c);
  const method = t.text(c.first, "method");
  const name = t.text(c.first, "name");
  const status = el("span", `badge tone-${look.tone}`, { title: meaningOf(c.status) }, `${look.symbol} ${c.status}${c.code ? " " + c.code : ""}`);
  const facts = el("dl", "facts", {},
    ...fact("Status", status, el("span", "quiet", {}, " " + meaningOf(c.status) + (c.late ? "; its answer came late" : ""))),
    ...fact("From → to", `${from} → ${to}`),
    ...(c.target && c.target !== name ? fact("Name there", c.target) : []),
    ...fact("Began", `${formatSince(t.col.us[c.first] ?? 0)} s`, el("span", "quiet", {}, `  ${formatClock(t.col.at[c.first] ?? 0)} UTC`)),
    ...fact("Call", `${t.text(c.first, "call") || "without a number"}, ID ${t.text(c.first, "id") || "none"}`),
    ...fact("Bytes", `${formatSize(c.in)} in, ${formatSize(c.out)} out`));
  const parts: (HTMLElement | undefined)[] = [
    heading(name || method, name ? method : "", actions), facts, times(trace, c), refusal(trace, c),
    c.error ? el("p", "error-text", {}, c.error.slice(0, 4000)) : undefined,
    tools(trace, c), rounds(trace, c, actions), messages(trace, c, row, actions),
  ];
  return parts.filter((p) => p !== undefined);
}

/** Shows where the time went. */
function times(trace: Trace, c: Call): HTMLElement | undefined {
  if (c.status === "pending") {
    if (trace.state !== "live") return el("p", "note", {}, "◌ The trace ends before its answer.");
    return el("p", "note", {}, "◌ The call is running: ", el("strong", "running", { "data-since": trace.table.col.at[c.first] ?? 0 }));
  }
  const bar = el("div", "split", { "aria-hidden": "true" });
  const silent = c.peerUS === 0 && c.other !== "";
  const share = !silent && !c.tapped && c.totalUS > 0 && c.answered && !byToolman(trace.table, c) ? Math.min(1, c.ownUS / c.totalUS) : 0;
  const own = el("i", "own");
  own.style.width = `${(share * 100).toFixed(1)}%`;
  bar.append(own);
  const words = [`${formatDuration(c.totalUS)} in all`];
  if (c.peerUS) words.push(`${formatDuration(c.peerUS)} at ${peers(trace.table, c).to}`);
  if (silent) words.push(`no answer of ${c.other}`);
  else if (c.answered && !byToolman(trace.table, c) && !c.tapped) words.push(`${formatDuration(c.ownUS)} in toolman (${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %)`);
  return el("div", "times", {}, bar, el("p", "", {}, words.join(" · ")));
}

const verdicts = dictionary<string>({
  inactive: "The tool is not active for this client.",
  unknown: "There is no such name.",
  denied: "A rule forbids it.",
  held: "Its definition does not match its pin.",
});

function refusal(trace: Trace, c: Call): HTMLElement | undefined {
  if (!isRefusal(c.verdict)) return undefined;
  const place = /[^\s:]+:\d+/.exec(c.rule)?.[0];
  return el("div", "refusal", {},
    el("strong", "", {}, `⊘ Refused by ${selfOf(trace, c.first)}: ${c.verdict}`),
    el("span", "", {}, verdicts[c.verdict] ?? ""),
    c.rule ? el("code", "", {}, c.rule) : undefined,
    place ? button("copy the place", "small", () => void copy(place, "the place of the rule")) : undefined);
}

function tools(trace: Trace, c: Call): HTMLElement {
  const t = trace.table;
  const there = c.rows.find((row) => t.is(row, UPSTREAM) && t.is(row, REQUEST));
  const server = c.other || c.tapped;
  const command = there !== undefined && !byToolman(t, c) ? callCommand(server, t.body(there)) : c.tapped && !byToolman(t, c) ? callCommand(server, t.body(c.first)) : undefined;
  const redacted = (c.traits & REDACTED) !== 0;
  const answer = answerOf(trace, c);
  return el("div", "tools", {},
    command ? button("copy as toolman call", "small", () => void copy(command, redacted ? "the command; it has placeholders for secrets" : "the command"), { title: command.slice(0, 300) }) : undefined,
    button("copy request", "small", () => void copy(t.body(c.first), "the request")),
    answer !== undefined ? button("copy response", "small", () => void copy(t.body(answer), "the response")) : undefined,
    button("copy trace lines", "small", () => void copy(c.rows.map((row) => t.line(row)).join("\n") + "\n", "the lines of the trace")));
}

function rounds(trace: Trace, c: Call, actions: Actions): HTMLElement | undefined {
  const list = roundsOf(trace, c);
  if (list.length === 0) return undefined;
  const t = trace.table;
  return el("section", "rounds", {}, el("h3", "", {}, "Input"),
    el("ul", "plain", {}, ...list.slice(0, 50).map((r) => {
      const look = lookOfCall(r.call);
      return el("li", "", {}, el("span", "quiet", {}, r.why + " "),
        button(`${t.text(r.call.first, "method")} ${t.text(r.call.first, "name")} ${t.text(r.call.first, "call")}`, "link", () => actions.go(r.call)),
        ` ${look.symbol} ${r.call.status}`);
    })));
}

const MAX_MESSAGES = 200;

function messages(trace: Trace, c: Call, chosen: number, actions: Actions): HTMLElement {
  const rows = rowsOf(trace, c);
  const open = opened(trace, c, rows, chosen);
  const shown = rows.length > MAX_MESSAGES ? rows.filter((_, i) => i < MAX_MESSAGES - 20 || i >= rows.length - 20) : rows;
  const list = el("div", "messages");
  for (const r of shown) list.append(new Message(trace, c, r, open.has(r.row), actions.whole).element);
  const left = rows.length - shown.length;
  return el("section", "", {}, el("h3", "", {}, `${rows.length} message${rows.length === 1 ? "" : "s"} and events`),
    left ? el("p", "quiet", {}, `${left} in the middle are not listed here; call:${trace.table.text(c.first, "call").slice(1)} in the sequence shows them.`) : undefined, list);
}

/** Returns the rows that are unfolded at first: the chosen one, or the caller's two messages. */
function opened(trace: Trace, c: Call, rows: readonly Related[], chosen: number): ReadonlySet<number> {
  if (chosen !== c.first && rows.some((r) => r.row === chosen)) return new Set([chosen]);
  const open = new Set([c.first]);
  const answer = answerOf(trace, c);
  if (answer !== undefined) open.add(answer);
  return open;
}

function rowPanel(trace: Trace, row: number, actions: Actions): HTMLElement[] {
  const t = trace.table;
  const d = describe(trace, row);
  const facts = el("dl", "facts", {},
    ...fact(d.to ? "From → to" : "From", d.to ? `${d.from} → ${d.to}` : d.from),
    ...fact("At", `${formatSince(t.col.us[row] ?? 0)} s`, el("span", "quiet", {}, `  ${formatClock(t.col.at[row] ?? 0)} UTC`)),
    ...(d.status ? fact("Status", d.status, el("span", "quiet", {}, " " + meaningOf(d.status))) : []),
    ...(t.col.id[row] ? fact("ID", t.text(row, "id")) : []),
    ...(t.text(row, "rule") ? fact("Why", t.text(row, "rule")) : []));
  const title = t.is(row, FRAME) ? t.text(row, "name") || t.text(row, "method") || "message" : t.text(row, "event") || "run";
  return [
    heading(title, d.symbol, actions), facts,
    el("div", "tools", {}, button("copy trace line", "small", () => void copy(t.line(row), "the line of the trace"))),
    new Message(trace, undefined, { row, why: "" }, true, actions.whole).element,
  ];
}

