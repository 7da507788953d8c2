// Starts the page: finds where the traces come from, and connects the controls.

import { Follower, listFiles, wholeLine } from "./source/live.ts";
import { readEmbedded } from "./source/embedded.ts";
import { Trace, type State } from "./model/trace.ts";
import { App } from "./view/app.ts";
import { DebugPanel } from "./view/debug.ts";
import { byID, el, inSlices, recall, remember, set, text } from "./view/dom.ts";
import { ComparedPanel } from "./view/compared.ts";
import { bindKeys } from "./view/keys.ts";
import { ListsPanel } from "./view/lists.ts";
import { RunsPanel } from "./view/runs.ts";
import { StatsPanel } from "./view/stats.ts";

const states: Record<State, string> = {
  file: "● file", loading: "◌ loading", live: "● live", retry: "○ reconnecting", ended: "■ ended",
};

const app = new App(new Trace("", ""));

function addTrace(trace: Trace): void {
  app.traces.push(trace);
  if (app.traces.length === 1) app.choose(trace, 0);
}

/** Offers the files and their runs. */
function drawPicker(): void {
  const picker = byID<HTMLSelectElement>("picker");
  const options: [string, string][] = [];
  app.traces.forEach((trace, i) => {
    const runs = trace.table.runs;
    options.push([`${i} 0`, trace.name + (runs.length > 1 ? ` · all ${runs.length} runs` : "")]);
    if (runs.length > 1) runs.forEach((run, n) => options.push([`${i} ${n + 1}`, `${trace.name} · run ${run.name}`]));
  });
  const key = options.join("\n");
  if (picker.dataset["key"] !== key) {
    picker.dataset["key"] = key;
    picker.replaceChildren(...options.map(([value, label]) => el("option", "", { value }, label)));
  }
  picker.value = `${app.traces.indexOf(app.trace)} ${app.run}`;
}

function drawState(): void {
  const state = app.trace.state;
  const connection = byID("connection");
  set(connection, "data-state", state);
  text(connection, states[state]);
  byID("follow").hidden = state === "file" || state === "ended";
  document.title = `${app.trace.name || "trace"} – toolman`;
}

let frame = 0;

/** Shows what is new, at most once in a frame. */
function changed(): void {
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    drawPicker();
    drawState();
    drawTabs();
    app.changed();
  });
  // A page in the background has no frames, but must not grow a backlog.
  if (document.hidden) {
    cancelAnimationFrame(frame);
    frame = 0;
    app.changed();
  }
}

function drawTabs(): void {
  const views: [string, string][] = [["sequence", "Sequence"], ["calls", "Calls"]];
  for (const panel of app.panels) if (panel.available(app)) views.push([panel.name, panel.label]);
  const tabs = byID("tabs");
  const key = views.join();
  if (tabs.dataset["key"] === key) return;
  tabs.dataset["key"] = key;
  tabs.replaceChildren(...views.map(([name, label], i) => {
    const tab = el("button", "tab", { type: "button", role: "tab", id: `tab-${name}`, "data-view": name, "aria-controls": "tabpanel", title: `${label} (${i + 1})` }, label);
    tab.addEventListener("click", () => app.setView(name));
    return tab;
  }));
  app.setView(views.some(([name]) => name === app.view) ? app.view : "calls");
}

const themes = ["auto", "light", "dark"];

function setTheme(name: string): void {
  const theme = themes.includes(name) ? name : "auto";
  document.documentElement.dataset["theme"] = theme;
  remember("theme", theme);
  text(byID("theme"), { auto: "◐", light: "○", dark: "●" }[theme] ?? "◐");
  set(byID("theme"), "aria-label", `Colors: ${theme === "auto" ? "as the system" : theme}`);
  app.recolor();
}

function cycleTheme(): void {
  setTheme(themes[(themes.indexOf(document.documentElement.dataset["theme"] ?? "") + 1) % themes.length] ?? "auto");
}

async function startLive(): Promise<void> {
  app.whole = (trace, at) => wholeLine(trace.id, at);
  const known = new Set<string>();
  for (;;) {
    try {
      for (const file of await listFiles()) {
        if (known.has(file.id)) continue;
        known.add(file.id);
        const trace = new Trace(file.id, file.name || file.file);
        addTrace(trace);
        new Follower(trace, changed);
      }
    } catch {
      if (known.size === 0) set(byID("connection"), "data-state", "retry");
    }
    changed();
    await new Promise((next) => setTimeout(next, 2000));
  }
}

function start(): void {
  byID<HTMLSelectElement>("picker").addEventListener("change", (e) => {
    const [file, run] = (e.target as HTMLSelectElement).value.split(" ").map(Number);
    const trace = app.traces[file ?? 0];
    if (trace) app.choose(trace, run ?? 0);
    drawState();
  });
  byID("follow").addEventListener("click", () => {
    app.setFollow(!app.follow);
    if (app.follow) app.list.toEnd();
  });
  byID("by-message").addEventListener("click", () => {
    app.setByMessage(!app.byMessage);
    set(byID("by-message"), "aria-pressed", app.byMessage ? "true" : "false");
  });
  byID("theme").addEventListener("click", cycleTheme);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => app.recolor());
  bindKeys(app, cycleTheme);
  setTheme(recall("theme"));
  app.panels.push(new DebugPanel());
  const embedded = readEmbedded();
  app.panels.push(new StatsPanel(), new ListsPanel(), new RunsPanel(), new ComparedPanel(embedded ? (embedded.diff ?? null) : undefined));
  drawTabs();
  if (embedded) {
    for (const trace of embedded.traces) addTrace(trace);
    void inSlices(embedded.load(changed), () => false);
  } else if (location.protocol.startsWith("http")) {
    void startLive();
  }
  changed();
}

start();
