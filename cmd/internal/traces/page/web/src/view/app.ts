// The page as a whole: which trace, run and view are shown, and what happens when they change.

import type { Call } from "../model/calls.ts";
import { formatCount, formatDuration } from "../model/duration.ts";
import { Filter } from "../model/filter.ts";
import { place } from "./lanes.ts";
import { rowOf, Selection, type Scope } from "../model/selection.ts";
import type { Table } from "../model/table.ts";
import type { Trace } from "../model/trace.ts";
import { CallRows, columns } from "./callrows.ts";
import { showDetail } from "./detail.ts";
import { byID, el, inSlices, recall, remember, set, text } from "./dom.ts";
import { FilterBox } from "./filterbox.ts";
import { Lanes, laneWidth } from "./lanes.ts";
import { List } from "./list.ts";
import { SequenceRows } from "./sequencerows.ts";
import { Timeline } from "./timeline.ts";

/** A view that is not a list of rows: it draws itself into a panel. */
export interface Panel {
  readonly name: string;
  readonly label: string;
  /** Reports whether there is something to show. */
  available(app: App): boolean;
  draw(into: HTMLElement, app: App): void;
}

export class App {
  readonly traces: Trace[] = [];
  trace: Trace;
  run = 0;
  view = recall("view") || "calls";
  follow = true;
  item: number | undefined; // the chosen one: a row, or ~index of a call
  whole: ((trace: Trace, at: number) => Promise<string>) | undefined;
  readonly timeline = new Timeline(byID("timeline"));
  readonly list: List;
  readonly filterBox = new FilterBox();
  readonly panels: Panel[] = [];
  #filter = new Filter([]);
  #selection: Selection;
  #table: Table; // that the selection is of
  #byMessage = false;
  #callRows: CallRows;
  #sequenceRows: SequenceRows;
  #lanes = new Lanes();
  #laneWidth = 20;
  #updating = false;
  #again = false;
  #generation = 0;
  #colors = new Map<string, string>();

  constructor(trace: Trace) {
    this.trace = trace;
    this.#selection = new Selection(trace, this.#filter);
    this.#table = trace.table;
    this.#callRows = new CallRows(() => ({ trace: this.trace, shown: this.timeline.shown, selectedItem: this.item, now: this.now }));
    this.#sequenceRows = new SequenceRows(() => ({
      trace: this.trace, lanes: this.#lanes, laneWidth: this.#laneWidth, selectedItem: this.item,
      selectedCall: this.call?.index ?? -1, colors: (name) => this.color(name),
    }), () => this.list);
    this.list = new List(byID("list"), this.#callRows, 28);
    this.list.onSelect = (index) => this.#select(index);
    this.list.onOpen = () => this.openDetail();
    this.list.onScroll = () => {
      if (this.trace.state === "live") this.setFollow(this.list.atEnd);
    };
    this.timeline.onChange = () => this.refresh();
    this.filterBox.onChange = (f) => {
      this.#filter = f;
      this.#reselect();
    };
    new ResizeObserver(() => this.#resized()).observe(byID("list"));
    setInterval(() => this.#tick(), 250);
  }

  /** The time in the trace while calls run; 0 if nothing runs. */
  get now(): number {
    return this.trace.state === "live" ? Date.now() * 1000 : 0;
  }

  get call(): Call | undefined {
    if (this.item === undefined) return undefined;
    return this.item < 0 ? this.trace.calls[~this.item] : this.trace.callOf(this.item);
  }

  get scope(): Scope {
    return { run: this.run, range: this.timeline.range, byMessage: this.#byMessage };
  }

  get selection(): Selection {
    return this.#selection;
  }

  /** Reports whether a call is in the range of the timeline. */
  inRange(c: Call): boolean {
    const range = this.timeline.range;
    const at = this.trace.table.col.at[c.first] ?? 0;
    return !range || (at <= range.to && at + c.totalUS >= range.from);
  }

  color(name: string): string {
    let value = this.#colors.get(name);
    if (value === undefined) {
      value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
      this.#colors.set(name, value);
    }
    return value;
  }

  /** Draws with the colors of another scheme. */
  recolor(): void {
    this.#colors.clear();
    this.refresh();
  }

  setFollow(on: boolean): void {
    this.follow = on;
    set(byID("follow"), "aria-pressed", on ? "true" : "false");
  }

  setByMessage(on: boolean): void {
    this.#byMessage = on;
    this.refresh();
  }

  get byMessage(): boolean {
    return this.#byMessage;
  }

  /** Shows another trace or run. */
  choose(trace: Trace, run: number): void {
    if (trace !== this.trace) {
      this.trace = trace;
      this.#lanes = new Lanes();
      this.item = undefined;
      this.closeDetail();
      this.#reselect();
    }
    this.run = run;
    this.timeline.range = undefined;
    this.refresh();
  }

  setView(name: string): void {
    this.view = name;
    remember("view", name);
    const listed = name === "calls" || name === "sequence";
    byID("lists").hidden = !listed;
    byID("panel").hidden = listed;
    set(document.body, "data-view", name);
    for (const tab of document.querySelectorAll<HTMLElement>("[role=tab]")) {
      const on = tab.dataset["view"] === name;
      set(tab, "aria-selected", on ? "true" : "false");
      set(tab, "tabindex", on ? 0 : -1);
    }
    set(byID("tabpanel"), "aria-labelledby", `tab-${name}`);
    if (!listed) this.closeDetail();
    if (listed) {
      if (this.item !== undefined) this.item = name === "calls" ? this.#asCallItem(this.item) : rowOf(this.trace, this.item);
      this.list.use(name === "calls" ? this.#callRows : this.#sequenceRows);
      this.#sequenceRows.attach(name === "sequence");
    }
    this.refresh();
    if (listed && this.list.selected >= 0) this.list.reveal(this.list.selected);
  }

  #asCallItem(item: number): number {
    const call = item >= 0 ? this.trace.callOf(item) : undefined;
    return call ? ~call.index : item;
  }

  /** Is told that rows have come, or that a state has changed. */
  changed(): void {
    if (this.#table !== this.trace.table) this.#reselect();
    else void this.#update();
  }

  #reselect(): void {
    this.#table = this.trace.table;
    this.#selection = new Selection(this.trace, this.#filter);
    this.#generation++;
    void this.#update();
  }

  /** Looks at what is new and shows it. One update runs at a time. */
  async #update(): Promise<void> {
    if (this.#updating) {
      this.#again = true;
      return;
    }
    this.#updating = true;
    do {
      this.#again = false;
      const generation = this.#generation;
      const done = await inSlices(this.#selection.update(), () => generation !== this.#generation);
      if (done) this.refresh();
      else this.#again = true;
    } while (this.#again);
    this.#updating = false;
  }

  /** Shows what is selected, without looking at the trace again. */
  refresh(): void {
    this.#lanes.update(this.trace);
    this.#drawTimeline();
    const panel = this.panels.find((p) => p.name === this.view);
    if (panel) {
      const into = byID("panel");
      if (into.dataset["panel"] !== panel.name) delete into.dataset["drawn"]; // another view was here
      set(into, "data-panel", panel.name);
      panel.draw(into, this);
    }
    const items = this.view === "sequence" ? this.#selection.sequence(this.scope) : this.#selection.calls(this.scope);
    this.#header();
    const end = this.follow && this.trace.state === "live";
    this.list.selected = this.item === undefined ? -1 : this.#indexOf(items, this.item);
    this.list.setItems(items);
    if (end) this.list.toEnd();
    this.#count(items.length);
    byID("empty").hidden = items.length > 0;
    text(byID("empty"), this.trace.table.length === 0 ? (this.trace.state === "file" ? "This trace has no records." : "Waiting for the first message…") : "Nothing matches the filter.");
    this.#redetail();
  }

  #timelineTimer = 0;
  #timelineAt = 0;

  /** Draws the timeline, of a long trace that grows at most four times a second. */
  #drawTimeline(): void {
    const wait = this.trace.state === "live" && this.trace.table.length > 20_000 ? this.#timelineAt + 250 - performance.now() : 0;
    if (wait > 0) {
      this.#timelineTimer ||= window.setTimeout(() => this.#drawTimeline(), wait + 1);
      return;
    }
    clearTimeout(this.#timelineTimer);
    this.#timelineTimer = 0;
    this.timeline.draw(this.trace, this.run, this.now, (name) => this.color(name));
    this.#timelineAt = performance.now();
  }

  #indexOf(items: Int32Array, item: number): number {
    if (this.view === "sequence") {
      const at = place(items, item);
      return items[at] === item ? at : -1;
    }
    return items.indexOf(item);
  }

  #count(n: number): void {
    const t = this.trace.table;
    const all = this.view === "sequence" ? t.length : this.trace.calls.length;
    const what = this.view === "sequence" ? "messages and events" : "rows";
    const bad = t.bad ? `, ${formatCount(t.bad)} lines are no records` : "";
    text(byID("count"), this.view === "sequence" ? `${formatCount(n)} of ${formatCount(all)} ${what}${bad}` : `${formatCount(n)} ${what}, ${formatCount(all)} calls in all${bad}`);
  }

  #header(): void {
    const head = byID("list-head");
    if (this.view === "sequence") {
      this.#laneWidth = laneWidth(this.#lanes.all.length, this.list.element.clientWidth);
      const width = this.#laneWidth * this.#lanes.all.length;
      byID("lists").style.setProperty("--lanes", `${width}px`);
      const key = `${this.#laneWidth} ${this.#lanes.all.map((l) => l.name).join(" ")}`;
      if (head.dataset["view"] === key) return;
      head.dataset["view"] = key;
      const names = this.#lanes.all.map((lane, i) => {
        const name = el("span", `lane-name lane-${lane.kind}`, { title: `${lane.kind === "self" ? "between them" : lane.kind}: ${lane.name}` }, lane.name);
        name.style.left = `${i * this.#laneWidth}px`;
        name.style.width = `${this.#laneWidth}px`;
        return name;
      });
      head.replaceChildren(el("div", "seq-row", {}, el("span", "cell c-start", {}, "start"), el("span", "lane-names", {}, ...names),
        el("span", "cell c-what", {}, "message"), el("span", "cell c-status", {}, "status"), el("span", "cell c-bytes", {}, "bytes")));
    } else if (head.dataset["view"] !== "calls") {
      head.dataset["view"] = "calls";
      head.replaceChildren(el("div", "call-row", {}, ...columns.map((name) => el("span", `cell c-${({ "#": "n", "from → to": "peers" })[name as string] ?? name}`, {}, name))));
    }
  }

  #select(index: number): void {
    this.item = index < 0 ? undefined : this.list.items[index];
    this.list.refresh();
    if (this.item !== undefined && !byID("detail").hidden) this.#redetail();
  }

  /** Moves the choice by a number of rows. */
  move(by: number): void {
    const n = this.list.items.length;
    if (n === 0) return;
    const from = this.list.selected < 0 ? (by > 0 ? -1 : n) : this.list.selected;
    this.list.select(Math.max(0, Math.min(n - 1, from + by)), true);
  }

  go(call: Call): void {
    this.item = this.view === "calls" ? ~call.index : call.first;
    const index = this.#indexOf(this.list.items, this.item);
    if (index >= 0) this.list.select(index, true);
    this.openDetail();
  }

  openDetail(): void {
    if (this.item === undefined) return;
    byID("detail").hidden = false;
    document.body.classList.add("detail-open");
    this.#shown = "";
    this.#redetail();
    this.list.refresh();
    if (matchMedia("(max-width: 760px)").matches) byID("detail").focus(); // it covers the list
  }

  closeDetail(): void {
    if (byID("detail").hidden) return;
    byID("detail").hidden = true;
    document.body.classList.remove("detail-open");
    this.#shown = "";
    byID("list").focus({ preventScroll: true });
    this.list.refresh();
  }

  #shown = "";

  /** Draws the details again if what they show has changed. */
  #redetail(): void {
    const panel = byID("detail");
    if (panel.hidden || this.item === undefined) return;
    const call = this.call;
    const row = rowOf(this.trace, this.item);
    const state = `${this.trace.id} ${this.item} ${call ? `${call.rows.length} ${call.status} ${call.held}` : ""}`;
    if (state === this.#shown) return;
    this.#shown = state;
    const trace = this.trace;
    const whole = this.whole;
    showDetail(panel, trace, call, row, {
      go: (c) => this.go(c), close: () => this.closeDetail(), whole: whole && ((at) => whole(trace, at)),
    });
  }

  /** Follows the size of the window, and the height that rows have in it. */
  #resized(): void {
    this.list.rowHeight = parseInt(getComputedStyle(document.documentElement).getPropertyValue("--row"), 10) || 28;
    this.refresh();
  }

  /** Lets timers of pending calls run. */
  #tick(): void {
    if (this.trace.state !== "live" || document.hidden) return;
    const running = byID("detail").querySelector<HTMLElement>(".running");
    if (running) text(running, formatDuration(Math.max(0, this.now - Number(running.dataset["since"]))) + "…");
    if (this.view === "calls" && this.trace.calls.some((c) => c.status === "pending" && !c.reported)) this.list.refresh();
  }
}
