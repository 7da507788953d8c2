// The debugger: rules, the messages that they hold, and an editor for one of them.

import { indent } from "../model/indent.ts";
import { split } from "../model/words.ts";
import { DebugStream, type DebugEvent, type Rule } from "../source/debug.ts";
import type { App, Panel } from "./app.ts";
import { button, byID, el, say, set, text } from "./dom.ts";

/** A message that is held. */
interface Held {
  readonly n: number;
  readonly said: DebugEvent;
  readonly button: HTMLButtonElement;
  readonly age: HTMLElement;
  readonly since: number;
  delayed: boolean;
}

const actions: [string, string][] = [["hold", "hold"], ["delay", "delay"], ["error", "answer with an error"], ["drop", "drop"], ["disconnect", "drop and disconnect"]];
const kinds: [string, string][] = [["request", "requests"], ["response", "responses"], ["notification", "notifications"], ["", "all messages"]];
const sides: [string, string][] = [["client", "of the client"], ["server", "of servers"], ["", "of both sides"]];

const resultTemplate = '{\n  "content": [\n    {\n      "type": "text",\n      "text": ""\n    }\n  ]\n}';
const errorTemplate = '{\n  "code": -32603,\n  "message": ""\n}';

export class DebugPanel implements Panel {
  readonly name = "debug";
  readonly label = "Debug";
  #stream: DebugStream | undefined;
  #app: App | undefined;
  #rules: Rule[] = [];
  #held = new Map<number, Held>();
  #chosen: Held | undefined;

  readonly #state = el("p", "", { role: "status", id: "debug-state" });
  readonly #connect = button("Connect", "small", () => this.#open(), { hidden: true });
  readonly #ruleList = el("ul", "plain", { id: "debug-rules" });
  readonly #noRules = el("p", "quiet", {}, "No rules: every message passes.");
  readonly #heldList = el("div", "debug-held", { id: "debug-held", role: "group", "aria-label": "Held messages" });
  readonly #noHeld = el("p", "quiet", {}, "No message is held.");
  readonly #releaseAll = button("Release all", "small", () => void this.#run('"do":"releaseAll"'), { id: "debug-release-all" });
  readonly #log = el("ul", "plain quiet", { id: "debug-log" });
  readonly #editor = new Editor((members) => this.#run(members));
  readonly #banner = el("div", "debug-banner", { id: "debug-banner", role: "status", hidden: true });
  readonly #bannerText = el("span", "");
  readonly #root: HTMLElement;

  constructor() {
    this.#root = el("div", "debug", {},
      el("section", "debug-main", { "aria-label": "Rules and held messages" },
        el("div", "tools", {}, this.#state, this.#connect),
        el("h2", "", {}, "Rules"), this.#noRules, this.#ruleList, this.#form(),
        el("h2", "", {}, "Held messages"), this.#noHeld, this.#heldList, el("div", "tools", {}, this.#releaseAll),
        el("h2", "", {}, "What was done"), this.#log),
      this.#editor.root);
    this.#banner.append(el("span", "", { "aria-hidden": "true" }, "‖ "), this.#bannerText,
      button("Show", "small", () => this.#app?.setView("debug")),
      button("Release all and remove the rules", "small", () => this.#clear(), { id: "debug-clear" }));
    byID("top").after(this.#banner);
    setInterval(() => this.#tick(), 500);
  }

  available(app: App): boolean {
    return app.whole !== undefined && app.trace.table.runs.some((r) => r.debug);
  }

  draw(into: HTMLElement, app: App): void {
    this.#app = app;
    if (into.firstChild !== this.#root || into.childNodes.length > 1) into.replaceChildren(this.#root);
    if (!this.#stream && this.#connect.hidden) this.#open();
  }

  #open(): void {
    const app = this.#app;
    if (!app || this.#stream) return;
    const run = app.trace.table.runs.filter((r) => r.debug).at(-1)?.name ?? "";
    this.#connect.hidden = true;
    text(this.#state, "Connecting…");
    const stream: DebugStream = new DebugStream(app.trace.id, run, (e) => this.#heard(e), (why) => {
      if (this.#stream !== stream) return;
      this.#stream = undefined;
      this.#rules = [];
      for (const h of [...this.#held.values()]) this.#forget(h);
      text(this.#state, `Not connected: ${why}.`);
      this.#connect.hidden = false;
      this.#drawRules();
    });
    this.#stream = stream;
  }

  async #run(members: string): Promise<string> {
    const why = this.#stream ? await this.#stream.command(members) : "there is no connection to toolman";
    if (why) say(why);
    return why;
  }

  #clear(): void {
    for (const r of this.#rules) void this.#run(`"do":"removeRule","n":${r.n ?? 0}`);
    void this.#run('"do":"releaseAll"');
  }

  #heard(e: DebugEvent): void {
    switch (e.event) {
      case "hello":
        text(this.#state, `Connected to run ${e.run ?? ""} (process ${e.pid ?? 0}). When this page is closed, all rules end and all messages go on.`);
        return;
      case "rules":
        this.#rules = e.rules ?? [];
        this.#drawRules();
        return;
      case "held":
        this.#add(e, false);
        break;
      case "fault":
        if (e.n && !this.#held.has(e.n)) this.#add(e, true);
        else if (e.n) this.#delayed(e.n);
        break;
      case "released": {
        const h = this.#held.get(e.n ?? 0);
        if (h) this.#forget(h);
        break;
      }
      case "passed_by":
        break;
      default:
        return;
    }
    const rule = this.#rules.find((r) => r.n === e.rule);
    if (rule && e.taken !== undefined) {
      rule.taken = e.taken;
      this.#drawRules();
    }
    if (e.event !== "held") this.#note(e);
    this.#drawBanner();
  }

  #note(e: DebugEvent): void {
    this.#log.prepend(el("li", "", {}, `${titleOf(e)}: ${e.text ?? ""}`));
    while (this.#log.childElementCount > 100) this.#log.lastChild?.remove();
  }

  #add(e: DebugEvent, delayed: boolean): void {
    const age = el("span", "age");
    const b = button("", "debug-item", () => this.#choose(this.#held.get(e.n ?? 0)), { "data-n": e.n, "aria-pressed": "false" });
    b.append(el("span", "quiet", {}, `#${e.n}`), el("span", "said", {}, titleOf(e)), age);
    const h: Held = { n: e.n ?? 0, said: e, button: b, age, since: Date.parse(e.at ?? "") || Date.now(), delayed };
    this.#held.set(h.n, h);
    this.#heldList.append(b);
    this.#tick();
    this.#noHeld.hidden = true;
    if (!this.#chosen && !delayed) this.#choose(h);
  }

  #delayed(n: number): void {
    const h = this.#held.get(n);
    if (h) h.delayed = true;
    this.#tick();
  }

  /** Removes a message, and goes on to the next. */
  #forget(h: Held): void {
    const focused = this.#editor.root.contains(document.activeElement) || h.button === document.activeElement;
    this.#held.delete(h.n);
    h.button.remove();
    this.#noHeld.hidden = this.#held.size > 0;
    if (this.#chosen === h) {
      this.#chosen = undefined;
      const next = [...this.#held.values()].find((other) => !other.delayed);
      this.#choose(next);
      if (focused) (next?.button ?? this.#releaseAll).focus();
    }
    this.#drawBanner();
  }

  #choose(h: Held | undefined): void {
    if (this.#chosen) set(this.#chosen.button, "aria-pressed", "false");
    this.#chosen = h;
    if (h) set(h.button, "aria-pressed", "true");
    this.#editor.show(h?.said);
  }

  #tick(): void {
    for (const h of this.#held.values()) text(h.age, `${h.delayed ? "delayed, " : ""}${Math.max(0, Math.round((Date.now() - h.since) / 1000))} s`);
  }

  #drawRules(): void {
    this.#noRules.hidden = this.#rules.length > 0;
    this.#ruleList.replaceChildren(...this.#rules.map((r) => el("li", "debug-rule", {},
      el("span", "", {}, ruleText(r)), el("span", "quiet", {}, ` ${r.taken ?? 0} so far${r.count && (r.taken ?? 0) >= r.count ? ", ended" : ""} `),
      button("Remove", "small", () => void this.#run(`"do":"removeRule","n":${r.n ?? 0}`), { "aria-label": `Remove the rule: ${ruleText(r)}` }))));
    this.#drawBanner();
  }

  #drawBanner(): void {
    const n = this.#rules.length;
    this.#banner.hidden = n === 0 && this.#held.size === 0;
    text(this.#bannerText, `${n} ${n === 1 ? "rule stops or changes" : "rules stop or change"} messages; ${this.#held.size} held `);
  }

  #form(): HTMLElement {
    const filter = field("filter", { placeholder: "tool:fs_*  (as in the filter above)", "aria-label": "Filter; empty: every message", spellcheck: "false", autocomplete: "off" });
    const action = choice("Action", actions), kind = choice("Kind", kinds), from = choice("Sender", sides);
    const ms = field("ms", { type: "number", min: 1, value: 1000, "aria-label": "Delay in milliseconds" });
    const says = field("text", { placeholder: "text of the error", "aria-label": "Text of the error" });
    const percent = field("percent", { type: "number", min: 0, max: 100, step: "any", placeholder: "100 %", "aria-label": "Percent of the messages" });
    const count = field("count", { type: "number", min: 1, placeholder: "no limit", "aria-label": "Number of messages after which the rule ends" });
    const form = el("form", "debug-form", { id: "debug-form", "aria-label": "New rule" }, filter, action, kind, from, ms, says, percent, count,
      el("button", "small", { type: "submit" }, "Add rule"));
    const choose = () => {
      ms.hidden = action.value !== "delay";
      says.hidden = action.value !== "error";
    };
    action.addEventListener("change", choose);
    choose();
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      const rule: Rule = { action: action.value, kind: kind.value, from: from.value };
      try {
        rule.filter = split(filter.value);
      } catch (e) {
        say(String(e));
        return;
      }
      if (action.value === "delay") rule.ms = Number(ms.value);
      if (action.value === "error" && says.value) rule.text = says.value;
      if (percent.value) rule.percent = Number(percent.value);
      if (count.value) rule.count = Number(count.value);
      void this.#run(`"do":"addRule","rule":${JSON.stringify(rule)}`);
    });
    return form;
  }
}

/** The editor of the chosen message. */
class Editor {
  readonly root: HTMLElement;
  readonly #title = el("h2", "");
  readonly #area = el("textarea", "debug-text", { id: "debug-text", "aria-label": "Message", spellcheck: "false", autocomplete: "off", rows: 16 });
  readonly #check = el("p", "quiet", { role: "status", id: "debug-check" });
  readonly #mode = choice("What to send", [["edit", "the message, edited"], ["result", "an answer: a result"], ["error", "an answer: an error"]]);
  readonly #send: HTMLButtonElement;
  readonly #ms = field("delay", { type: "number", min: 1, value: 1000, "aria-label": "Delay in milliseconds" });
  #said: DebugEvent | undefined;

  constructor(run: (members: string) => Promise<string>) {
    const n = () => `"n":${this.#said?.n ?? 0}`;
    this.#send = button("Pass edited", "small", () => void send(), { id: "debug-send", title: "Ctrl+Enter" });
    const send = async () => {
      if (!this.#valid()) return;
      const value = this.#area.value;
      const mode = this.#mode.value;
      await run(mode === "edit" ? `"do":"edit",${n()},"msg":${value}` : `"do":"answer",${n()},"${mode}":${value}`);
    };
    this.root = el("section", "debug-editor", { "aria-label": "Held message", hidden: true }, this.#title,
      el("div", "tools", {},
        button("Pass", "small primary", () => void run(`"do":"release",${n()}`), { id: "debug-pass" }),
        button("Drop", "small", () => void run(`"do":"drop",${n()}`), { id: "debug-drop" }),
        button("Delay", "small", () => void run(`"do":"delay",${n()},"ms":${Number(this.#ms.value) || 0}`), { id: "debug-delay" }), this.#ms, "ms"),
      el("div", "tools", {}, this.#mode, this.#send), this.#area, this.#check);
    this.#area.addEventListener("input", () => this.#valid());
    this.#area.addEventListener("keydown", (e) => {
      if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) void send();
      else if (e.key === "Escape") this.#send.focus();
    });
    this.#mode.addEventListener("change", () => this.#fill());
  }

  /** Shows a message, or nothing. */
  show(said: DebugEvent | undefined): void {
    this.root.hidden = !said;
    if (said === this.#said) return;
    this.#said = said;
    if (!said) return;
    text(this.#title, `#${said.n} ${titleOf(said)}`);
    this.#mode.value = "edit";
    for (const option of this.#mode.options) option.disabled = option.value !== "edit" && said.kind === "notification";
    this.#fill();
  }

  #fill(): void {
    const mode = this.#mode.value;
    this.#area.value = mode === "edit" ? indent(this.#said?.raw ?? "") : mode === "result" ? resultTemplate : errorTemplate;
    text(this.#send, mode === "edit" ? "Pass edited" : "Answer");
    set(this.#area, "aria-label", mode === "edit" ? "Message" : mode === "result" ? "Result" : "Error");
    this.#valid();
  }

  /** Checks what is written. toolman checks whether it is a message. */
  #valid(): boolean {
    let why = "";
    try {
      JSON.parse(this.#area.value);
    } catch (e) {
      why = e instanceof Error ? e.message : String(e);
    }
    text(this.#check, why ? `not JSON: ${why}` : "");
    this.#check.className = why ? "problem" : "quiet";
    set(this.#area, "aria-invalid", why ? "true" : undefined);
    this.#send.disabled = why !== "";
    return why === "";
  }
}

function field(name: string, attributes: Record<string, string | number>): HTMLInputElement {
  return el("input", `debug-${name}`, { name, ...attributes });
}

function choice(label: string, options: [string, string][]): HTMLSelectElement {
  return el("select", "", { "aria-label": label, name: label.toLowerCase() }, ...options.map(([value, shown]) => el("option", "", { value }, shown)));
}

function titleOf(e: DebugEvent): string {
  const arrow = e.from === "client" ? `${e.peer ?? "client"} →` : `← ${e.peer ?? "server"}`;
  return [arrow, e.kind, e.method, e.name, e.token && `(${e.token})`].filter(Boolean).join(" ");
}

function ruleText(r: Rule): string {
  const of = (all: [string, string][], value = "") => all.find(([v]) => v === value)?.[1] ?? value;
  const what = [of(actions, r.action), r.action === "delay" && `${r.ms} ms`, r.percent && `${r.percent} % of`, of(kinds, r.kind), of(sides, r.from),
    r.filter?.length && `with ${r.filter.join(" ")}`, r.count && `(${r.count} times)`, r.text && `“${r.text}”`];
  return what.filter(Boolean).join(" ");
}
