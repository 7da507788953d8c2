// The box with the filter: its errors in words, its history, and buttons for what is asked often.

import { Filter } from "../model/filter.ts";
import { button, byID, el, recall, remember, set, text } from "./dom.ts";

const MAX_HISTORY = 50;

const often: [string, string, string][] = [
  ["✕ errors", "status:error", "Calls that failed"],
  ["◌ pending", "status:pending", "Calls without an answer"],
  ["◷ slow", "dur:>100ms", "Calls of more than 100 ms"],
  ["⊘ refused", "is:refused", "Calls that toolman refused"],
  ["▪ stderr", "event:stderr", "What servers write on standard error"],
];

export class FilterBox {
  onChange: (f: Filter) => void = () => {};
  readonly input = byID<HTMLInputElement>("filter");
  readonly #error = byID("filter-error");
  readonly #chips: HTMLElement[];
  #history: string[] = [];
  #at = -1;
  #typed = "";

  constructor() {
    try {
      const old: unknown = JSON.parse(recall("filters") || "[]");
      if (Array.isArray(old)) this.#history = old.filter((s): s is string => typeof s === "string").slice(0, MAX_HISTORY);
    } catch {
      // There is no history.
    }
    this.#chips = often.map(([label, word, title]) => button(label, "chip", () => this.#toggle(word), { title: `${title}: ${word}`, "aria-pressed": "false", "data-word": word }));
    byID("chips").replaceChildren(...this.#chips);
    this.input.addEventListener("input", () => this.#changed());
    this.input.addEventListener("change", () => this.#keep());
    this.input.addEventListener("keydown", (e) => this.#key(e));
  }

  set(value: string): void {
    this.input.value = value;
    this.#keep();
    this.#changed();
  }

  #toggle(word: string): void {
    const words = this.input.value.split(/\s+/).filter(Boolean);
    this.set((words.includes(word) ? words.filter((w) => w !== word) : [...words, word]).join(" "));
  }

  #changed(): void {
    const words = this.input.value.split(/\s+/);
    for (const chip of this.#chips) set(chip, "aria-pressed", words.includes(chip.dataset["word"] ?? "") ? "true" : "false");
    try {
      const f = Filter.line(this.input.value);
      text(this.#error, "");
      set(this.input, "aria-invalid", undefined);
      this.onChange(f);
    } catch (e) {
      text(this.#error, (e as Error).message);
      set(this.input, "aria-invalid", "true");
    }
  }

  #keep(): void {
    const line = this.input.value.trim();
    this.#at = -1;
    if (!line || this.#history[0] === line) return;
    this.#history = [line, ...this.#history.filter((h) => h !== line)].slice(0, MAX_HISTORY);
    remember("filters", JSON.stringify(this.#history));
  }

  #key(e: KeyboardEvent): void {
    if (e.key === "Enter") this.#keep();
    if (e.key === "Escape") {
      if (this.input.value) this.set("");
      else byID("list").focus();
      e.stopPropagation();
    }
    const step = e.key === "ArrowUp" ? 1 : e.key === "ArrowDown" ? -1 : 0;
    if (!step) return;
    e.preventDefault();
    if (this.#at < 0) this.#typed = this.input.value;
    this.#at = Math.max(-1, Math.min(this.#history.length - 1, this.#at + step));
    this.input.value = this.#at < 0 ? this.#typed : (this.#history[this.#at] ?? "");
    this.#changed();
  }
}

/** The reference of the filter language, for the help. */
export function filterHelp(): HTMLElement {
  const rows: [string, string][] = [
    ["tool:fs_*  peer:gh  method:tools/", "a part of the name, or a pattern with *"],
    ["status:error", "ok, error, pending, rpc_error, tool_error, cancelled, timeout, gone, late, orphan, local, cached, or a code"],
    ["dur:>50ms  size:>10KB", "also < >= <="],
    ["call:c41  id:7  run:k3f9q", "one call, one JSON-RPC ID, one run"],
    ["kind:  leg:  dir:", "call, request, response, notification, invalid, event; client, upstream; in, out"],
    ["event:stderr", "the name of an event"],
    ["is:refused", "held, fault, edited, redacted, truncated, rewritten, refused, late"],
    ["WORD  \"two words\"  text:WORD", "in the messages"],
    ["!FILTER", "what does not match"],
  ];
  return el("dl", "keys", {}, ...rows.flatMap(([word, what]) => [el("dt", "", {}, el("code", "", {}, word)), el("dd", "", {}, what)]));
}
