// A payload as a tree. Only what is unfolded is read and drawn: a message of 10 MB opens as fast as
// a small one. Values are shown as they are in the message, byte for byte, with escapes for what is
// hidden.

import { decode, kindAt, members, pathText, pathTo, type Path, type Span } from "../model/scan.ts";
import { visible, visibleLines } from "../model/sanitize.ts";
import { formatCount, formatSize } from "../model/duration.ts";
import { button, copy, el, set, text } from "./dom.ts";

const PAGE = 100; // members that are drawn at once
const SHORT = 600; // characters of a string that are shown at first
const MORE = 20_000; // and with each "more"
const MAX_HITS = 2000;

interface Node {
  readonly item: HTMLLIElement;
  readonly line: HTMLElement;
  readonly path: Path;
  readonly span: Span;
  group: HTMLUListElement | undefined;
  /** Draws the members from one number to another. */
  draw: ((from: number, to: number) => void) | undefined;
}

export class Tree {
  readonly element: HTMLElement;
  readonly #text: string;
  readonly #root: Span;
  readonly #tree: HTMLUListElement;
  readonly #nodes = new Map<HTMLElement, Node>();
  readonly #marked: ReadonlySet<string>;
  #focused: HTMLElement | undefined;
  #hits: number[] = [];
  #hit = -1;

  /** Shows text, which is JSON. The paths in marked are redacted. */
  constructor(json: string, label: string, marked: readonly string[] = []) {
    this.#text = json;
    this.#marked = new Set(marked.map((p) => p.replace(/^msg\.?/, "")));
    let end = json.length;
    while (end > 0 && json.charCodeAt(end - 1) <= 32) end--;
    this.#root = { start: json.length - json.trimStart().length, end };
    this.#tree = el("ul", "tree", { role: "tree", "aria-label": label });
    const root = this.#node(this.#root, [], "");
    this.#tree.append(root.item);
    this.#unfold(root, true);
    if (end - this.#root.start < 3000) this.#unfoldAll(root, 3);
    this.#focus(root.item, false);
    this.#tree.addEventListener("keydown", (e) => this.#key(e));
    this.#tree.addEventListener("click", (e) => this.#click(e));
    this.element = el("div", "payload", {}, this.#bar(), this.#tree);
  }

  #bar(): HTMLElement {
    const input = el("input", "", { type: "search", placeholder: "Search in this message", "aria-label": "Search in this message", spellcheck: "false" });
    const found = el("span", "found", { role: "status" });
    const go = (step: number) => text(found, this.#next(input.value, step));
    input.addEventListener("keydown", (e) => {
      e.stopPropagation();
      if (e.key === "Enter") go(e.shiftKey ? -1 : 1);
      if (e.key === "Escape") this.#focused?.focus();
    });
    input.addEventListener("input", () => {
      this.#hits = [];
      this.#hit = -1;
      if (input.value.length > 1) go(1);
      else text(found, "");
    });
    const focused = () => (this.#focused ? this.#nodes.get(this.#focused) : undefined);
    return el("div", "payload-bar", {}, input, found,
      button("path", "small", () => {
        const n = focused();
        if (n) void copy(pathText(n.path) || "$", "the path");
      }, { title: "Copy the path of the chosen value (p)" }),
      button("value", "small", () => {
        const n = focused();
        if (n) void copy(this.#value(n), "the value");
      }, { title: "Copy the chosen value (c)" }),
      button("all", "small", () => void copy(this.#text, "the message"), { title: "Copy the whole message" }));
  }

  /** Returns the text of a string, or the JSON of another value. */
  #value(n: Node): string {
    const raw = this.#text.slice(n.span.start, n.span.end);
    return kindAt(this.#text, n.span.start) === "string" ? decode(raw) : raw;
  }

  #node(span: Span, path: Path, key: string): Node {
    const kind = kindAt(this.#text, span.start);
    const folds = kind === "object" || kind === "array";
    const line = el("div", "node");
    const item = el("li", "", { role: "treeitem", tabindex: -1 }, line);
    const n: Node = { item, line, path, span, group: undefined, draw: undefined };
    if (folds) set(item, "aria-expanded", "false");
    line.append(el("span", "fold", { "aria-hidden": "true" }, folds ? "▸" : ""));
    if (key !== "") line.append(el("span", "key", {}, key), el("span", "colon", {}, ": "));
    line.append(folds ? this.#summary(span, kind) : this.#leaf(span, kind));
    if (this.#marked.size && this.#marked.has(pathText(path))) line.append(el("span", "mark", {}, "▮ redacted"));
    this.#nodes.set(item, n);
    return n;
  }

  #summary(span: Span, kind: string): HTMLElement {
    const [open, close] = kind === "object" ? ["{", "}"] : ["[", "]"];
    const length = span.end - span.start;
    if (length === 2) return el("span", "summary", {}, open + close);
    if (length <= 60) return el("span", "summary", {}, this.#text.slice(span.start, span.end));
    return el("span", "summary", {}, `${open} … ${close} ${formatSize(length)}`);
  }

  #leaf(span: Span, kind: string): HTMLElement {
    const raw = this.#text.slice(span.start, Math.min(span.end, span.start + 64));
    if (kind !== "string") return el("span", kind, {}, raw);
    const value = el("span", "string");
    this.#string(value, span, SHORT);
    return value;
  }

  /** Shows the first characters of a string. */
  #string(value: HTMLElement, span: Span, limit: number): void {
    const whole = span.end - span.start - 2;
    const cut = whole > limit;
    let raw = this.#text.slice(span.start, cut ? span.start + 1 + limit : span.end);
    // An escape is not cut in two.
    if (cut) raw = raw.replace(/\\(u[0-9a-fA-F]{0,3})?$/, "") + '"';
    const shown = decode(raw);
    value.replaceChildren();
    value.append(shown.includes("\n") ? visibleLines(shown) : visible(shown));
    value.classList.toggle("lines", shown.includes("\n"));
    if (cut) {
      const more = button(`more (${formatCount(whole)} in all)`, "small more", () => this.#string(value, span, Math.min(limit + MORE, limit * 8)), { tabindex: -1 });
      value.append(more);
    } else if (/^\s*[{[]/.test(shown) && isJSON(shown)) {
      const nested = button("as JSON", "small more", () => {
        nested.replaceWith(new Tree(shown, "JSON in a string").element);
      }, { tabindex: -1 });
      value.append(nested);
    }
  }

  #unfold(n: Node, open: boolean): void {
    if (!n.item.hasAttribute("aria-expanded")) return;
    set(n.item, "aria-expanded", open ? "true" : "false");
    text(n.line.firstElementChild ?? n.line, open ? "▾" : "▸");
    if (!n.group && open) this.#children(n);
    if (n.group) n.group.hidden = !open;
  }

  #unfoldAll(n: Node, depth: number): void {
    this.#unfold(n, true);
    if (depth === 0 || !n.group) return;
    for (const child of n.group.children) {
      const node = this.#nodes.get(child as HTMLElement);
      if (node) this.#unfoldAll(node, depth - 1);
    }
  }

  /** Makes the place for a node's members, and draws the first ones. */
  #children(n: Node): void {
    const group = el("ul", "", { role: "group" });
    n.group = group;
    n.item.append(group);
    let low = 0, high = 0; // the members that are drawn
    n.draw = (from, to) => {
      from = Math.max(0, from);
      if (from >= low && to <= high) return;
      if (from > high || to < low) {
        // Far from what is drawn: a list of 100,000 is never drawn whole.
        group.replaceChildren();
        low = high = from;
      }
      for (const rest of group.querySelectorAll(":scope > .rest")) rest.remove();
      const before = group.firstElementChild;
      let at = 0;
      let more = false;
      const ok = members(this.#text, n.span.start, n.span.end, (m) => {
        const index = at++;
        if (index >= to && index >= high) {
          more = true;
          return false;
        }
        if (index >= from && (index < low || index >= high)) {
          const item = this.#node(m, [...n.path, m.key], String(m.key)).item;
          if (index < low) group.insertBefore(item, before);
          else group.append(item);
        }
        return true;
      });
      low = Math.min(low, from);
      high = Math.max(high, more ? Math.max(to, high) : at);
      if (low > 0) group.prepend(this.#rest(`${PAGE} before`, () => n.draw?.(low - PAGE, low)));
      if (more) group.append(this.#rest(`${PAGE} more`, () => n.draw?.(high, high + PAGE)));
      if (!ok) group.append(el("li", "rest problem", { role: "none" }, "the JSON is broken here"));
    };
    n.draw(0, PAGE);
  }

  #rest(label: string, press: () => void): HTMLElement {
    return el("li", "rest", { role: "none" }, button(label, "small more", press, { tabindex: -1 }));
  }

  /** Unfolds the way to a path and moves the focus there. */
  show(path: Path): void {
    let n = this.#nodes.get(this.#tree.firstElementChild as HTMLElement);
    for (const step of path) {
      if (!n) return;
      this.#unfold(n, true);
      const index = this.#indexOf(n, step);
      if (index >= 0 && !this.#child(n, step)) n.draw?.(index - 20, index + PAGE - 20);
      n = this.#child(n, step);
    }
    if (n) this.#focus(n.item, true);
  }

  #indexOf(n: Node, step: string | number): number {
    if (typeof step === "number") return step;
    let index = -1;
    let at = 0;
    members(this.#text, n.span.start, n.span.end, (m) => {
      if (m.key === step) index = at;
      at++;
    });
    return index;
  }

  #child(n: Node, step: string | number): Node | undefined {
    for (const e of n.group?.children ?? []) {
      const child = this.#nodes.get(e as HTMLElement);
      if (child && String(child.path[child.path.length - 1]) === String(step)) return child;
    }
    return undefined;
  }

  /** Goes to the next place that holds the text, and says how many there are. */
  #next(query: string, step: number): string {
    if (this.#hits.length === 0) {
      const hay = this.#text.toLowerCase();
      const needle = JSON.stringify(query).slice(1, -1).toLowerCase();
      for (let at = hay.indexOf(needle); at >= 0 && needle && this.#hits.length < MAX_HITS; at = hay.indexOf(needle, at + needle.length)) this.#hits.push(at);
    }
    const n = this.#hits.length;
    if (n === 0) return "not found";
    this.#hit = (this.#hit + step + n) % n;
    const keep = document.activeElement;
    this.show(pathTo(this.#text, this.#root, this.#hits[this.#hit] ?? 0));
    if (keep instanceof HTMLInputElement) keep.focus({ preventScroll: true });
    return `${this.#hit + 1} of ${n}${n === MAX_HITS ? "+" : ""}`;
  }

  #focus(item: HTMLElement, move: boolean): void {
    if (this.#focused) set(this.#focused, "tabindex", -1);
    this.#focused?.classList.remove("chosen");
    this.#focused = item;
    item.classList.add("chosen");
    set(item, "tabindex", 0);
    if (!move) return;
    item.focus({ preventScroll: true });
    item.firstElementChild?.scrollIntoView({ block: "nearest" });
  }

  #click(e: MouseEvent): void {
    if ((e.target as Element).closest("button")) return;
    const item = (e.target as Element).closest<HTMLElement>("[role=treeitem]");
    const n = item ? this.#nodes.get(item) : undefined;
    if (!item || !n) return;
    e.stopPropagation();
    this.#focus(item, true);
    if (!getSelection()?.toString()) this.#unfold(n, item.getAttribute("aria-expanded") === "false");
  }

  #key(e: KeyboardEvent): void {
    const item = (e.target as Element).closest<HTMLElement>("[role=treeitem]");
    const n = item ? this.#nodes.get(item) : undefined;
    if (!item || !n || (e.target as Element).closest("button,input") || e.ctrlKey || e.metaKey || e.altKey) return;
    const items = [...this.#tree.querySelectorAll<HTMLElement>("[role=treeitem]")].filter((i) => i.offsetParent);
    const at = items.indexOf(item);
    const open = item.getAttribute("aria-expanded");
    const moves: Record<string, () => void> = {
      ArrowDown: () => this.#to(items[at + 1]),
      ArrowUp: () => this.#to(items[at - 1]),
      ArrowRight: () => (open === "false" ? this.#unfold(n, true) : this.#to(items[at + 1])),
      ArrowLeft: () => (open === "true" ? this.#unfold(n, false) : this.#to(item.parentElement?.closest<HTMLElement>("[role=treeitem]") ?? undefined)),
      Home: () => this.#to(items[0]),
      End: () => this.#to(items[items.length - 1]),
      Enter: () => this.#unfold(n, open === "false"),
      p: () => void copy(pathText(n.path) || "$", "the path"),
      c: () => void copy(this.#value(n), "the value"),
    };
    const move = moves[e.key];
    if (!move) return;
    move();
    e.preventDefault();
    e.stopPropagation();
  }

  #to(item: HTMLElement | undefined): void {
    if (item) this.#focus(item, true);
  }
}

function isJSON(s: string): boolean {
  try {
    JSON.parse(s);
    return true;
  } catch {
    return false;
  }
}
