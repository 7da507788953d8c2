// The keyboard: everything in the page can be done with it.

import type { App } from "./app.ts";
import { byID, el } from "./dom.ts";
import { filterHelp } from "./filterbox.ts";

const help: [string, string][] = [
  ["j k  ↓ ↑", "next, previous row"],
  ["g G  Home End", "first, last row"],
  ["PageUp PageDown", "a page up, down"],
  ["Enter", "open the details"],
  ["Escape", "close what is open; clear the filter"],
  ["/ or f", "go to the filter; ↑ ↓ there is its history"],
  ["e E", "next, previous error"],
  ["r", "show only the time from 1 s before to 1 s after the row; again: all of it"],
  ["[ ]", "previous, next view"],
  ["1 … 9", "a view by its number"],
  ["t", "follow new rows"],
  ["d", "go to the details; in a payload ← → ↑ ↓ move, p copies the path, c the value"],
  ["m", "filter single messages in the sequence, instead of whole calls"],
  ["s", "light, dark, or as the system"],
  ["?", "this help"],
];

export function bindKeys(app: App, cycleTheme: () => void): void {
  const dialog = byID<HTMLDialogElement>("help");
  byID("help-keys").replaceChildren(
    el("h3", "", {}, "Keys"), el("dl", "keys", {}, ...help.flatMap(([key, what]) => [el("dt", "", {}, el("kbd", "", {}, key)), el("dd", "", {}, what)])),
    el("h3", "", {}, "Filters: all must match"), filterHelp());
  byID("help-button").addEventListener("click", () => dialog.showModal());
  byID("help-close").addEventListener("click", () => dialog.close());
  const keys: Record<string, () => void> = {
    j: () => app.move(1), ArrowDown: () => app.move(1), k: () => app.move(-1), ArrowUp: () => app.move(-1),
    g: () => app.move(-Infinity), Home: () => app.move(-Infinity), G: () => app.move(Infinity), End: () => app.move(Infinity),
    PageDown: () => app.move(app.list.page), PageUp: () => app.move(-app.list.page),
    Enter: () => {
      if (app.list.selected < 0) app.move(1);
      app.openDetail();
    },
    Escape: () => (byID("detail").hidden ? app.filterBox.set("") : app.closeDetail()),
    "/": () => app.filterBox.input.select(), f: () => app.filterBox.input.select(),
    e: () => nextError(app, 1), E: () => nextError(app, -1),
    r: () => zoom(app),
    "[": () => turn(-1), "]": () => turn(1),
    t: () => byID("follow").click(),
    d: () => focusDetail(app),
    m: () => byID("by-message").click(),
    s: cycleTheme,
    "?": () => dialog.showModal(),
  };
  document.addEventListener("keydown", (e) => {
    const target = e.target as HTMLElement;
    if (dialog.open || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
    const widget = target.closest("button,summary,a,[role=tab],[role=slider]");
    if (widget && (e.key === "Enter" || e.key === " " || e.key.startsWith("Arrow"))) return;
    if (/^[1-9]$/.test(e.key)) {
      tabs()[Number(e.key) - 1]?.click();
      return;
    }
    const act = keys[e.key];
    if (!act) return;
    const inDetail = target.closest("#detail");
    if (inDetail && /^(Arrow|Home|End|Page)/.test(e.key)) return; // it scrolls
    e.preventDefault();
    act();
  });
  byID("tabs").addEventListener("keydown", (e) => {
    const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (step) turn(step, true);
  });
}

function tabs(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[role=tab]")].filter((t) => !t.hidden);
}

function turn(step: number, focus = false): void {
  const all = tabs();
  const at = all.findIndex((t) => t.getAttribute("aria-selected") === "true");
  const next = all[(at + step + all.length) % all.length];
  next?.click();
  if (focus) next?.focus();
}

function nextError(app: App, step: number): void {
  const n = app.list.items.length;
  const t = app.trace.table;
  let at = app.list.selected < 0 && step < 0 ? n : app.list.selected;
  for (let tries = 0; tries < n; tries++) {
    at = (at + step + n) % n;
    const item = app.list.items[at] ?? 0;
    const status = item < 0 ? app.trace.calls[~item]?.status : t.text(item, "status");
    const local = item < 0 && status === "local" && app.trace.calls[~item]?.error;
    const event = item >= 0 ? t.text(item, "event") : "";
    if (local || event === "junk" || event === "gone" || /^(rpc_error|tool_error|timeout|gone)$/.test(status ?? "")) {
      app.list.select(at, true);
      return;
    }
  }
}

function zoom(app: App): void {
  if (app.timeline.range || app.item === undefined) {
    app.timeline.clear();
    return;
  }
  const call = app.call;
  const row = call ? call.first : app.item;
  const at = app.trace.table.col.at[row] ?? 0;
  app.timeline.range = { from: at - 1e6, to: at + (call?.totalUS ?? 0) + 1e6 };
  app.timeline.onChange();
}

function focusDetail(app: App): void {
  app.openDetail();
  const panel = byID("detail");
  (panel.querySelector<HTMLElement>("[role=treeitem][tabindex='0']") ?? panel).focus();
}
