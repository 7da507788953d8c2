// What differs between two JSON texts: between the two legs of a message, two definitions of a
// tool.

import { find, kindAt, members, parsePath, pathText, type Path, type Span } from "./scan.ts";

export interface Difference {
  readonly path: string;
  readonly before: string | undefined; // JSON; undefined if it was not there
  readonly after: string | undefined;
}

const MAX = 200;

/** Returns the places where two JSON texts differ, at most 200. */
export function differences(a: string, b: string): Difference[] {
  const out: Difference[] = [];
  walk(a, { start: 0, end: a.length }, b, { start: 0, end: b.length }, [], out);
  return out;
}

function walk(a: string, at: Span, b: string, bt: Span, path: Path, out: Difference[]): void {
  if (out.length >= MAX) return;
  const before = a.slice(at.start, at.end);
  const after = b.slice(bt.start, bt.end);
  if (before === after) return;
  const kind = kindAt(a, at.start);
  if ((kind !== "object" && kind !== "array") || kindAt(b, bt.start) !== kind || path.length > 50) {
    if (!same(before, after)) out.push({ path: pathText(path), before, after });
    return;
  }
  const theirs = new Map<string | number, Span>();
  members(b, bt.start, bt.end, (m) => void theirs.set(m.key, m));
  members(a, at.start, at.end, (m) => {
    const other = theirs.get(m.key);
    theirs.delete(m.key);
    if (other) walk(a, m, b, other, [...path, m.key], out);
    else out.push({ path: pathText([...path, m.key]), before: a.slice(m.start, m.end), after: undefined });
  });
  for (const [key, span] of theirs) out.push({ path: pathText([...path, key]), before: undefined, after: b.slice(span.start, span.end) });
}

/** Reports whether two leaves mean the same although they are written differently. */
function same(a: string, b: string): boolean {
  if (a.length > 10_000 || b.length > 10_000) return false;
  try {
    const x: unknown = JSON.parse(a);
    return typeof x !== "object" && typeof x !== "number" && x === JSON.parse(b);
  } catch {
    return false;
  }
}

/** Returns the difference at the paths that toolman says it has rewritten. */
export function rewritten(a: string, b: string, paths: readonly string[]): Difference[] {
  return paths.map((path) => ({ path, before: valueAt(a, path), after: valueAt(b, path) }));
}

function valueAt(s: string, path: string): string | undefined {
  const at = find(s, { start: 0, end: s.length }, parsePath(path));
  return at && s.slice(at.start, at.end);
}
