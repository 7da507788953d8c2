// Makes elements. All text passes through visible(): nothing from a trace becomes markup, and
// hidden characters are shown as escapes. Styles that depend on data are numbers, set as
// properties.

import { visible } from "../model/sanitize.ts";

type Child = Node | string | undefined | false;
type Attributes = Record<string, string | number | boolean | undefined>;

/** Makes an element with a class, attributes and children. */
export function el<K extends keyof HTMLElementTagNameMap>(tag: K, className = "", attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  if (className) e.className = className;
  for (const [name, value] of Object.entries(attributes)) set(e, name, value);
  for (const child of children) if (child) e.append(typeof child === "string" ? visible(child) : child);
  return e;
}

/** Sets an attribute, or removes it if there is no value. */
export function set(e: Element, name: string, value: string | number | boolean | undefined): void {
  if (value === undefined || value === false) e.removeAttribute(name);
  else if (e.getAttribute(name) !== String(value)) e.setAttribute(name, value === true ? "" : visible(String(value)));
}

/** Sets the text of an element, if it differs. */
export function text(e: Element, value: string): void {
  const shown = visible(value);
  if (e.textContent !== shown) e.textContent = shown;
}

export function button(label: string, className: string, press: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const b = el("button", className, { type: "button", ...attributes }, label);
  b.addEventListener("click", press);
  return b;
}

/** Finds an element of the page's own markup. */
export function byID<T extends HTMLElement = HTMLElement>(id: string): T {
  const e = document.getElementById(id);
  if (!e) throw new Error(`the page has no #${id}`);
  return e as T;
}

/** Reads a setting that outlives the page, if the browser lets it. */
export function recall(key: string): string {
  try {
    return localStorage.getItem("toolman." + key) ?? "";
  } catch {
    return "";
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem("toolman." + key, value);
  } catch {
    // A page from a file may have no storage.
  }
}

/** Puts text on the clipboard, and says whether that worked. */
export async function copy(value: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(value);
    say(`copied ${what}`);
  } catch {
    const area = el("textarea", "offscreen");
    area.value = value;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    say(done ? `copied ${what}` : "the browser does not let this page copy");
  }
}

let hide = 0;

/** Shows a short message, and tells it to screen readers. */
export function say(message: string): void {
  const toast = byID("toast");
  text(toast, message);
  toast.classList.add("shown");
  clearTimeout(hide);
  hide = window.setTimeout(() => toast.classList.remove("shown"), 2500);
}

/** Runs work in slices of a few milliseconds, so that the page stays alive between them. */
export async function inSlices(work: Generator<void>, stop: () => boolean): Promise<boolean> {
  for (;;) {
    const until = performance.now() + 12;
    do {
      if (work.next().done) return true;
    } while (performance.now() < until);
    await new Promise<void>((next) => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        channel.port1.close();
        next();
      };
      channel.port2.postMessage(0);
    });
    if (stop()) return false;
  }
}
