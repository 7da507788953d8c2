// Reads JSON text without decoding it: where values begin and end, and what a container holds.
// Messages may be 10 MB long, so nothing here recurses, and nothing is decoded before it is shown.

const QUOTE = 34, BACKSLASH = 92, COMMA = 44, COLON = 58;
const OPEN_OBJECT = 123, CLOSE_OBJECT = 125, OPEN_ARRAY = 91, CLOSE_ARRAY = 93;

/** Returns the index of the first character from i on that is not white space. */
export function blank(s: string, i: number): number {
  for (;;) {
    const c = s.charCodeAt(i);
    if (c !== 32 && c !== 10 && c !== 13 && c !== 9) return i;
    i++;
  }
}

/** Returns the index after the string that begins at i, or -1 if it does not end. */
function skipString(s: string, i: number): number {
  for (let at = i + 1; ; at++) {
    at = s.indexOf('"', at);
    if (at < 0) return -1;
    let slashes = 0;
    while (s.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
}

/** Returns the index after the value that begins at i, or -1 if the text ends within it. */
export function skip(s: string, i: number, end: number): number {
  const first = s.charCodeAt(i);
  if (first === QUOTE) {
    const after = skipString(s, i);
    return after > end ? -1 : after;
  }
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) {
    let at = i;
    for (; at < end; at++) {
      const c = s.charCodeAt(at);
      if (c === COMMA || c === CLOSE_OBJECT || c === CLOSE_ARRAY || c <= 32) break;
    }
    return at > i ? at : -1;
  }
  for (let depth = 0, at = i; at < end; at++) {
    switch (s.charCodeAt(at)) {
      case QUOTE:
        at = skipString(s, at) - 1;
        if (at < 0) return -1;
        break;
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        depth++;
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        if (--depth === 0) return at + 1;
    }
  }
  return -1;
}

/** A place in JSON text that holds a value. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A member of an object, or an element of an array, which has no key. */
export interface Member extends Span {
  readonly key: string | number;
}

/**
 * Calls visit for each member of the object or array at [start, end), until it returns false.
 * Returns whether the container was well-formed as far as it was read.
 */
export function members(s: string, start: number, end: number, visit: (m: Member) => boolean | void): boolean {
  const object = s.charCodeAt(start) === OPEN_OBJECT;
  if (!object && s.charCodeAt(start) !== OPEN_ARRAY) return false;
  let at = blank(s, start + 1);
  if (s.charCodeAt(at) === (object ? CLOSE_OBJECT : CLOSE_ARRAY)) return true;
  for (let n = 0; at < end; n++) {
    let key: string | number = n;
    if (object) {
      const after = s.charCodeAt(at) === QUOTE ? skipString(s, at) : -1;
      if (after < 0) return false;
      key = decode(s.slice(at, after));
      at = blank(s, after);
      if (s.charCodeAt(at) !== COLON) return false;
      at = blank(s, at + 1);
    }
    const after = skip(s, at, end);
    if (after < 0) return false;
    if (visit({ key, start: at, end: after }) === false) return true;
    at = blank(s, after);
    if (s.charCodeAt(at) !== COMMA) return s.charCodeAt(at) === (object ? CLOSE_OBJECT : CLOSE_ARRAY);
    at = blank(s, at + 1);
  }
  return false;
}

/** Returns the text of a JSON string, or what it is if it is none. */
export function decode(token: string): string {
  if (!token.includes("\\")) return token.slice(1, -1);
  try {
    return String(JSON.parse(token));
  } catch {
    return token;
  }
}

export type Kind = "object" | "array" | "string" | "number" | "literal";

/** Returns the kind of the value that begins at i. */
export function kindAt(s: string, i: number): Kind {
  switch (s.charCodeAt(i)) {
    case OPEN_OBJECT:
      return "object";
    case OPEN_ARRAY:
      return "array";
    case QUOTE:
      return "string";
  }
  const c = s.charCodeAt(i);
  return c === 45 || (c >= 48 && c <= 57) ? "number" : "literal";
}

/** A key of an object or an index of an array, for each step into a value. */
export type Path = readonly (string | number)[];

/** Finds the value at a path. Of members with the same key it is the last, as for JSON.parse. */
export function find(s: string, root: Span, path: Path): Span | undefined {
  let at: Span | undefined = root;
  for (const step of path) {
    let next: Span | undefined;
    members(s, at.start, at.end, (m) => {
      if (String(m.key) === String(step)) next = m;
    });
    if (!next) return undefined;
    at = next;
  }
  return at;
}

/** Returns the path to the innermost value that holds the character at an index. */
export function pathTo(s: string, root: Span, index: number): Path {
  const path: (string | number)[] = [];
  for (let at: Span = root; ; ) {
    let next: Member | undefined;
    members(s, at.start, at.end, (m) => {
      if (index >= m.end) return true;
      next = m; // also for a hit in its key
      return false;
    });
    if (!next) return path;
    path.push(next.key);
    at = next;
  }
}

/** Writes a path as toolman does: "params.arguments[0].token". */
export function pathText(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(step)) text += (text && ".") + step;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

/** Reads what pathText writes, and also "a.0.b". */
export function parsePath(text: string): Path {
  const path: (string | number)[] = [];
  const step = /\.?([^.[\]]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/gy;
  for (let m = step.exec(text); m; m = step.exec(text)) {
    if (m[3] !== undefined) path.push(decode(m[3]));
    else if (m[2] !== undefined) path.push(Number(m[2]));
    else path.push(m[1] ?? "");
  }
  return path;
}
