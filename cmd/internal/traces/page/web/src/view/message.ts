// One message or event in the panel: a line that unfolds to its payload, what toolman changed in
// it, and what was removed from it.

import type { Call } from "../model/calls.ts";
import { differences, rewritten, type Difference } from "../model/difference.ts";
import { formatCount, formatDuration, formatSince, formatSize } from "../model/duration.ts";
import { members } from "../model/scan.ts";
import { visibleLines } from "../model/sanitize.ts";
import { isHeld, otherLeg, type Related } from "../model/related.ts";
import { CUT, MESSAGE, SESSION, TRUNCATED } from "../model/table.ts";
import { messageKey, type Trace } from "../model/trace.ts";
import { button, el, say } from "./dom.ts";
import { describe } from "./rowtext.ts";
import { marksOf } from "./sequencerows.ts";
import { lookOf } from "./status.ts";
import { Tree } from "./tree.ts";

const MAX_COMPARED = 512 << 10;
const MAX_TEXT = 20_000;

export class Message {
  readonly element: HTMLDetailsElement;
  readonly #trace: Trace;
  readonly #call: Call | undefined;
  readonly #row: number;
  readonly #whole: ((at: number) => Promise<string>) | undefined;
  #body: HTMLElement | undefined;

  constructor(trace: Trace, call: Call | undefined, related: Related, open: boolean, whole: ((at: number) => Promise<string>) | undefined) {
    this.#trace = trace;
    this.#call = call;
    this.#row = related.row;
    this.#whole = whole;
    const t = trace.table;
    const d = describe(trace, related.row);
    const look = lookOf(d.status.split(" ")[0] ?? "", d.failed);
    const took = t.col.totalUS[related.row] || t.col.legUS[related.row];
    const after = call ? `+${formatDuration((t.col.us[related.row] ?? 0) - (t.col.us[call.first] ?? 0))}` : formatSince(t.col.us[related.row] ?? 0);
    this.element = el("details", `message tone-${d.tone}`, {},
      el("summary", "", {},
        el("span", "symbol", { "aria-hidden": "true" }, d.symbol),
        el("span", "ends", {}, d.to ? `${d.from} → ${d.to}` : d.from),
        el("span", "said", {}, related.why ? `${related.why}: ${d.text}` : d.text),
        el("span", "quiet", {}, [d.status && `${look.symbol} ${d.status}`, took ? formatDuration(took) : "", t.col.bytes[related.row] ? formatSize(t.col.bytes[related.row] ?? 0) : "", after]
          .filter(Boolean).join("  ")),
        el("span", "marks", {}, marksOf(trace, related.row))));
    this.element.addEventListener("toggle", () => {
      if (this.element.open) this.#draw();
    });
    if (open) {
      this.element.open = true;
      this.#draw();
    }
  }

  #draw(): void {
    if (this.#body) return;
    this.#body = el("div", "message-body");
    this.element.append(this.#body);
    this.#fill(this.#body, this.#trace.table.line(this.#row));
  }

  /** Shows the payload of a line; the whole line may come later than the row. */
  #fill(body: HTMLElement, line: string): void {
    const t = this.#trace.table;
    const row = this.#row;
    const parts: (Node | undefined)[] = [line === t.line(row) ? this.#cutNote(body) : undefined, this.#changes(), this.#redactions()];
    const fields = new Map<string, string>();
    members(line, 0, line.length, (m) => void fields.set(String(m.key), line.slice(m.start, m.end)));
    const msg = fields.get("msg");
    if (t.is(row, SESSION)) parts.push(new Tree(line, "The first line of the run").element);
    else if (msg !== undefined) parts.push(new Tree(msg, `Payload of ${describe(this.#trace, row).text}`, redactedPaths(this.#trace, row)).element);
    else parts.push(this.#text());
    body.replaceChildren(...parts.filter((p) => p !== undefined));
  }

  #text(): HTMLElement {
    const said = this.#trace.table.body(this.#row);
    if (said === "") return el("p", "quiet", {}, "nothing more is known");
    const pre = el("pre", "text", { tabindex: 0 });
    const show = (limit: number) => {
      pre.replaceChildren(visibleLines(said.slice(0, limit)));
      if (said.length > limit) pre.append(button(`more (${formatCount(said.length)} characters in all)`, "small more", () => show(limit * 4)));
    };
    show(MAX_TEXT);
    return pre;
  }

  /** Says that the message is not whole, and offers to load it. */
  #cutNote(body: HTMLElement): HTMLElement | undefined {
    const t = this.#trace.table;
    const size = formatSize(t.col.bytes[this.#row] ?? 0);
    if (t.is(this.#row, CUT) && this.#whole) {
      const whole = this.#whole;
      const load = button("load the whole", "small", () => {
        load.disabled = true;
        const at = Number(t.field(this.#row, "at"));
        whole(at).then((line) => this.#fill(body, line), (e: unknown) => {
          load.disabled = false;
          say(`the message cannot be loaded: ${(e as Error).message}`);
        });
      });
      return el("p", "note", {}, `… Only the beginning of ${size} is here. `, load);
    }
    if (!t.is(this.#row, TRUNCATED)) return undefined;
    return el("p", "note", {}, `… The trace holds only the beginning of ${size}: the message was longer than --trace-max.`);
  }

  /** Shows what differs from the same message on the other leg. */
  #changes(): HTMLElement | undefined {
    if (!this.#call) return undefined;
    const t = this.#trace.table;
    if (isHeld(t, this.#row)) return this.#edits(this.#call);
    const other = otherLeg(this.#trace, this.#call, this.#row);
    const rewrote = t.field(this.#row, "rewrote");
    const paths = Array.isArray(rewrote) ? rewrote.filter((p): p is string => typeof p === "string") : [];
    if (other === undefined || !t.is(other, MESSAGE) || !t.is(this.#row, MESSAGE)) {
      return paths.length ? el("p", "note", {}, `✎ toolman has rewritten ${paths.join(", ")}.`) : undefined;
    }
    const [from, to] = other < this.#row ? [other, this.#row] : [this.#row, other];
    const a = t.body(from), b = t.body(to);
    const list = a.length + b.length < MAX_COMPARED ? differences(a, b) : rewritten(a, b, paths);
    if (list.length === 0) return undefined;
    const names = (row: number) => describe(this.#trace, row);
    return el("div", "changes", {},
      el("h4", "", {}, `✎ Rewritten between ${names(from).from} and ${names(to).to}`), changeTable(list));
  }

  /** Shows what a debugger changed: the event has the message as it came. */
  #edits(c: Call): HTMLElement | undefined {
    const t = this.#trace.table;
    const key = messageKey(t, this.#row);
    const after = c.rows.find((row) => row > this.#row && messageKey(t, row) === key && t.is(row, MESSAGE));
    if (after === undefined || !t.is(this.#row, MESSAGE)) return undefined;
    const a = t.body(this.#row), b = t.body(after);
    const list = a.length + b.length < MAX_COMPARED ? differences(a, b) : [];
    return list.length === 0 ? undefined : el("div", "changes", {}, el("h4", "", {}, "✎ Changed by the debugger"), changeTable(list));
  }

  #redactions(): HTMLElement | undefined {
    const t = this.#trace.table;
    const value = t.field(this.#row, "redacted");
    if (value === undefined || value === false) return undefined;
    const paths = redactedPaths(this.#trace, this.#row);
    return el("div", "note", {}, "▮ toolman has removed secrets before it wrote this",
      paths.length ? el("ul", "plain", {}, ...paths.slice(0, 200).map((p) => el("li", "", {}, el("code", "", {}, p)))) : ".");
  }
}

function redactedPaths(trace: Trace, row: number): string[] {
  const value = trace.table.field(row, "redacted");
  return Array.isArray(value) ? value.filter((p): p is string => typeof p === "string") : [];
}

/** Shows before and after of each place. */
export function changeTable(list: readonly Difference[]): HTMLElement {
  const cell = (value: string | undefined, kind: string) => {
    if (value === undefined) return el("td", "quiet", {}, "absent");
    return el("td", kind, {}, el("code", "", {}, value.length > 300 ? value.slice(0, 300) + "…" : value));
  };
  return el("table", "change-table", {},
    el("thead", "", {}, el("tr", "", {}, el("th", "", { scope: "col" }, "place"), el("th", "", { scope: "col" }, "− before"), el("th", "", { scope: "col" }, "+ after"))),
    el("tbody", "", {}, ...list.slice(0, 200).map((d) =>
      el("tr", "", {}, el("th", "", { scope: "row" }, el("code", "", {}, d.path || "(all)")), cell(d.before, "before"), cell(d.after, "after")))));
}
