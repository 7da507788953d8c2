// A list of rows of which only those in sight are in the page.

import { el, set } from "./dom.ts";

export interface Rows {
  /** Makes the element of a row. */
  make(): HTMLElement;
  /** Shows an item in the element of a row. */
  fill(row: HTMLElement, item: number, index: number): void;
  /** Is told which rows are in the page. */
  window?(first: number, last: number): void;
}

const OVERSCAN = 10;

export class List {
  readonly element: HTMLElement;
  readonly spacer: HTMLElement;
  rowHeight: number;
  items: Int32Array = new Int32Array(0);
  selected = -1; // index
  onSelect: (index: number, byUser: boolean) => void = () => {};
  onOpen: (index: number) => void = () => {};
  onScroll: () => void = () => {};
  #rows: Rows;
  #pool: HTMLElement[] = [];
  #shown: number[] = []; // by element of the pool, the index of its row
  #first = 0;
  #last = 0;
  #frame = 0;

  constructor(element: HTMLElement, rows: Rows, rowHeight: number) {
    this.element = element;
    this.rowHeight = rowHeight;
    this.#rows = rows;
    this.spacer = el("div", "spacer", { role: "presentation" });
    element.replaceChildren(this.spacer);
    element.addEventListener("scroll", () => {
      this.onScroll();
      this.#soon();
    }, { passive: true });
    new ResizeObserver(() => this.#soon()).observe(element);
    this.spacer.addEventListener("click", (e) => {
      const row = (e.target as Element).closest("[role=row]");
      const at = row ? this.#pool.indexOf(row as HTMLElement) : -1;
      if (at < 0) return;
      this.select(this.#shown[at] ?? -1, true);
      this.onOpen(this.selected);
    });
  }

  /** Shows other kinds of rows. */
  use(rows: Rows): void {
    this.#rows = rows;
    for (const row of this.#pool) row.remove();
    this.#pool = [];
    this.#shown = [];
    this.#first = this.#last = 0;
  }

  setItems(items: Int32Array): void {
    this.items = items;
    set(this.element, "aria-rowcount", items.length);
    this.spacer.style.height = `${items.length * this.rowHeight}px`;
    if (this.selected >= items.length) this.selected = -1;
    this.refresh();
  }

  get atEnd(): boolean {
    const e = this.element;
    return e.scrollTop + e.clientHeight >= e.scrollHeight - this.rowHeight;
  }

  toEnd(): void {
    this.element.scrollTop = this.items.length * this.rowHeight;
  }

  /** Selects a row and brings it into sight. */
  select(index: number, byUser: boolean): void {
    if (index < -1 || index >= this.items.length) return;
    this.selected = index;
    if (index >= 0) this.reveal(index);
    this.refresh();
    this.onSelect(index, byUser);
  }

  reveal(index: number): void {
    const e = this.element;
    const top = index * this.rowHeight;
    if (top < e.scrollTop) e.scrollTop = top - this.rowHeight;
    else if (top + this.rowHeight > e.scrollTop + e.clientHeight) e.scrollTop = top + 2 * this.rowHeight - e.clientHeight;
  }

  get page(): number {
    return Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight) - 1);
  }

  /** Shows all rows in sight anew. */
  refresh(): void {
    this.#shown.fill(-1);
    this.#draw(true);
  }

  #soon(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw(false);
    });
  }

  #draw(all: boolean): void {
    const e = this.element;
    const n = this.items.length;
    const inSight = Math.ceil(e.clientHeight / this.rowHeight) + 1;
    const top = Math.floor(e.scrollTop / this.rowHeight);
    const first = Math.max(0, Math.min(top - OVERSCAN, n - 1));
    const last = Math.max(first, Math.min(n, top + inSight + OVERSCAN));
    const size = last - first;
    while (this.#pool.length < size) {
      const row = this.#rows.make();
      row.setAttribute("role", "row");
      row.id = `row${this.#pool.length}`;
      this.#pool.push(row);
      this.#shown.push(-1);
      this.spacer.append(row);
    }
    while (this.#pool.length > size + 2 * OVERSCAN) {
      this.#pool.pop()?.remove();
      this.#shown.pop();
    }
    let active = "";
    const length = this.#pool.length;
    const used = new Uint8Array(length);
    for (let index = first; index < last; index++) {
      // A row keeps its element while it is in sight.
      const slot = index % length;
      const row = this.#pool[slot];
      if (!row) continue;
      used[slot] = 1;
      if (index === this.selected) active = row.id;
      if (this.#shown[slot] === index) continue;
      this.#shown[slot] = index;
      row.style.transform = `translateY(${index * this.rowHeight}px)`;
      row.hidden = false;
      set(row, "aria-rowindex", index + 1);
      set(row, "aria-selected", index === this.selected ? "true" : "false");
      this.#rows.fill(row, this.items[index] ?? 0, index);
    }
    for (let slot = 0; slot < length; slot++) {
      const row = this.#pool[slot];
      if (row && !used[slot] && this.#shown[slot] !== -2) {
        row.hidden = true;
        this.#shown[slot] = -2;
      }
    }
    set(e, "aria-activedescendant", active || undefined);
    if (all || first !== this.#first || last !== this.#last) {
      this.#first = first;
      this.#last = last;
      this.#rows.window?.(first, last);
    }
  }
}
