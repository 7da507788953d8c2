// The lists that clients and servers exchanged, as differences from one to the next.

import { formatCount, formatSince, formatSize } from "../model/duration.ts";
import { listingsOf, type Listing } from "../model/lists.ts";
import { tokens } from "../model/stats.ts";
import type { App, Panel } from "./app.ts";
import { button, el } from "./dom.ts";
import { changeTable } from "./message.ts";

const MAX_LISTS = 200;
const MAX_NAMES = 200;

export class ListsPanel implements Panel {
  readonly name = "lists";
  readonly label = "Lists";
  #drawn = "";

  available(app: App): boolean {
    return app.trace.table.length > 0;
  }

  draw(into: HTMLElement, app: App): void {
    const state = `${app.trace.id} ${app.run} ${app.trace.calls.length} ${app.trace.state}`;
    if (state === this.#drawn && into.dataset["drawn"] === this.name) return;
    this.#drawn = state;
    into.dataset["drawn"] = this.name;
    const all = listingsOf(app.trace, app.run);
    const shown = all.slice(-MAX_LISTS);
    into.replaceChildren(
      el("p", "quiet", {}, all.length === 0 ? "Nobody has asked for a list." : "What each list has more or less than the one before it. Tokens are estimated as bytes / 4.3."),
      ...(shown.length < all.length ? [el("p", "quiet", {}, `The last ${shown.length} of ${all.length} are here.`)] : []),
      ...shown.map((l) => listing(app, l)));
  }
}

function listing(app: App, l: Listing): HTMLElement {
  const at = formatSince(app.trace.table.col.us[l.row] ?? 0);
  if (l.event) return el("div", "listing activate", {}, el("span", "quiet", {}, at), " ", el("strong", "", {}, "• activate"), ` ${l.event}`);
  const call = l.call;
  const head = el("div", "listing-head", {}, el("span", "quiet", {}, at), el("strong", "", {}, l.who), el("span", "", {}, l.what),
    el("span", "quiet", {}, `${formatCount(l.count)} items · ${formatSize(l.bytes)} · about ${formatCount(tokens(l.bytes))} tokens${l.whole ? "" : " · only a part"}`),
    call ? button("show", "small", () => {
      app.setView("calls");
      app.go(call);
    }) : undefined);
  if (l.first) return el("div", "listing", {}, head, names("", "", l.added));
  if (!l.added.length && !l.removed.length && !l.changed.length) return el("div", "listing", {}, head, el("p", "quiet", {}, "= unchanged"));
  return el("div", "listing", {}, head, names("+", "after", l.added), names("−", "before", l.removed),
    ...l.changed.slice(0, 50).map((c) => el("details", "change", {}, el("summary", "", {}, `~ ${c.name}: ${c.list.length} difference${c.list.length === 1 ? "" : "s"}`), changeTable(c.list))));
}

function names(sign: string, kind: string, list: readonly string[]): HTMLElement | undefined {
  if (list.length === 0) return undefined;
  return el("p", "names", {}, ...list.slice(0, MAX_NAMES).map((name) => el("span", `name ${kind}`, {}, sign ? `${sign} ${name}` : name)),
    list.length > MAX_NAMES ? `and ${list.length - MAX_NAMES} more` : undefined);
}
