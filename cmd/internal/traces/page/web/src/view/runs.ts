// The files and their runs: when each began, what it was, and how it went.

import { failed } from "../model/calls.ts";
import { formatCount, formatDuration } from "../model/duration.ts";
import type { Trace } from "../model/trace.ts";
import type { App, Panel } from "./app.ts";
import { button, el } from "./dom.ts";

export class RunsPanel implements Panel {
  readonly name = "runs";
  readonly label = "Runs";

  available(app: App): boolean {
    return app.traces.length > 1 || app.trace.table.runs.length > 1;
  }

  draw(into: HTMLElement, app: App): void {
    if (into.contains(document.activeElement) && into.dataset["drawn"] === this.name) return; // somebody chooses
    into.dataset["drawn"] = this.name;
    const heads = ["file", "run", "began (UTC)", "lasted", "toolman", "servers", "calls", "errors", ""];
    into.replaceChildren(el("div", "scroll", { tabindex: 0, role: "region", "aria-label": "Runs" }, el("table", "stats", {},
      el("thead", "", {}, el("tr", "", {}, ...heads.map((h) => (h ? el("th", "", { scope: "col" }, h) : el("td"))))),
      el("tbody", "", {}, ...app.traces.flatMap((trace) => rows(app, trace))))));
  }
}

function rows(app: App, trace: Trace): HTMLElement[] {
  const t = trace.table;
  const calls = new Map<number, { all: number; bad: number }>();
  for (const c of trace.calls) {
    const run = t.col.run[c.first] ?? 0;
    const n = calls.get(run) ?? { all: 0, bad: 0 };
    n.all++;
    if (failed(c)) n.bad++;
    calls.set(run, n);
  }
  return t.runs.map((run, i) => {
    const end = (t.runs[i + 1]?.row ?? t.length) - 1;
    const n = calls.get(i + 1) ?? { all: 0, bad: 0 };
    return el("tr", trace === app.trace && (app.run === i + 1 || t.runs.length === 1) ? "current" : "", {},
      el("th", "", { scope: "row" }, trace.name), el("td", "", {}, run.name),
      el("td", "", {}, run.startedAt ? new Date(run.startedAt / 1000).toISOString().slice(0, 19).replace("T", " ") : ""),
      el("td", "", {}, formatDuration(t.col.us[end] ?? 0)), el("td", "", {}, run.toolman),
      el("td", "", {}, run.tap ? `tap of ${run.tap}` : run.servers.map((s) => s.name || '""').join(", ")),
      el("td", "", {}, formatCount(n.all)), el("td", n.bad ? "problem" : "quiet", {}, n.bad ? `✕ ${formatCount(n.bad)}` : "0"),
      el("td", "", {}, button("show", "small", () => {
        app.choose(trace, t.runs.length > 1 ? i + 1 : 0);
        app.setView("calls");
      }, { "aria-label": `Show run ${run.name}` })));
  });
}
