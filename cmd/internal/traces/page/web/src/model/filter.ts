// The filter language of toolman trace: words such as tool:fs_* and status:error, of which all must
// match. It is the same as package jsonrpc/trace/filter; both run the table of cases in
// jsonrpc/trace/filter/testdata/cases.json.

import { parseDuration } from "./duration.ts";
import { split, WordError } from "./words.ts";

/** What a filter is applied to: a call, a frame or an event. */
export interface Subject {
  peers: string[];
  methods: string[];
  names: string[];
  ids: string[]; // JSON tokens
  events: string[];
  kinds: string[];
  dirs: string[];
  legs: string[];
  traits: string[]; // for is:
  run: string;
  call: string;
  status: string;
  code: number;
  failed: boolean;
  bytes: number;
  durNS: number; // 0: unknown
  texts: boolean[]; // which of the filter's texts it holds
}

export class FilterError extends Error {}

type Match = (s: Subject) => boolean;

const statuses = ["ok", "rpc_error", "tool_error", "cancelled", "timeout", "late", "orphan", "local", "cached", "pending", "gone"];

const choices: Record<string, readonly string[]> = {
  kind: ["call", "request", "response", "notification", "invalid", "event", "session"],
  dir: ["in", "out"],
  leg: ["client", "upstream"],
  is: ["held", "fault", "edited", "redacted", "truncated", "rewritten", "refused", "late"],
};

const compare: Record<string, (a: number, b: number) => boolean> = {
  ">": (a, b) => a > b, ">=": (a, b) => a >= b, "<": (a, b) => a < b, "<=": (a, b) => a <= b,
};

export class Filter {
  readonly texts: string[] = []; // in lower case
  readonly #conditions: { not: boolean; match: Match }[] = [];

  /** Parses filters, one in each word. */
  constructor(words: readonly string[]) {
    for (const word of words) {
      try {
        this.#add(word);
      } catch (e) {
        throw new FilterError(`filter ${JSON.stringify(word)}: ${(e as Error).message}`);
      }
    }
  }

  /** Parses the line of the filter box. */
  static line(line: string): Filter {
    try {
      return new Filter(split(line));
    } catch (e) {
      if (e instanceof WordError) throw new FilterError(e.message);
      throw e;
    }
  }

  get empty(): boolean {
    return this.#conditions.length === 0;
  }

  match(s: Subject): boolean {
    for (const c of this.#conditions) if (c.match(s) === c.not) return false;
    return true;
  }

  #add(word: string): void {
    const not = word.startsWith("!") || word.startsWith("-");
    if (not) word = word.slice(1);
    const colon = word.indexOf(":");
    let key = word.slice(0, Math.max(colon, 0));
    let value = word.slice(colon + 1);
    if (colon < 0 || !/^[a-z]+$/i.test(key) || value.startsWith("//")) {
      // A URI is a text.
      key = "text";
      value = word;
    }
    if (value === "") throw new Error("there is nothing to look for");
    this.#conditions.push({ not, match: this.#matcher(key, value) });
  }

  #matcher(key: string, value: string): Match {
    const lower = value.toLowerCase();
    switch (key) {
      case "tool":
      case "name":
        return anyLike((s) => s.names, lower);
      case "peer":
        return anyLike((s) => s.peers, lower);
      case "method":
        return anyLike((s) => s.methods, lower);
      case "event":
        return anyLike((s) => s.events, lower);
      case "run":
        return (s) => s.run !== "" && like(s.run.toLowerCase(), lower);
      case "id":
        return (s) => s.ids.some((id) => id === value || id === JSON.stringify(value));
      case "call":
        return (s) => s.call !== "" && s.call === "c" + (value.startsWith("c") ? value.slice(1) : value);
      case "kind":
        return oneOf(key, lower, (s) => s.kinds);
      case "dir":
        return oneOf(key, lower, (s) => s.dirs);
      case "leg":
        return oneOf(key, lower, (s) => s.legs);
      case "is":
        return oneOf(key, lower, (s) => s.traits);
      case "status":
        return status(lower);
      case "dur":
        return duration(value);
      case "size":
        return size(value);
      case "text": {
        const i = this.texts.push(lower) - 1;
        return (s) => s.texts[i] === true;
      }
    }
    throw new Error(`no filter is called ${key}`);
  }
}

function oneOf(key: string, value: string, of: (s: Subject) => string[]): Match {
  const known = choices[key] ?? [];
  if (!known.includes(value)) throw new Error(`${key}: is one of ${known.join(", ")}`);
  return (s) => of(s).includes(value);
}

function status(value: string): Match {
  if (/^[+-]?\d+$/.test(value)) {
    const code = Number(value);
    return (s) => s.code === code && s.status === "rpc_error";
  }
  if (value === "error") return (s) => s.failed;
  if (!statuses.includes(value)) throw new Error("there is no such status");
  return (s) => s.status === value;
}

function bound(value: string): { number: string; holds: ((a: number, b: number) => boolean) | undefined } {
  const number = value.replace(/^[<>=]+/, "");
  return { number, holds: compare[value.slice(0, value.length - number.length)] };
}

function duration(value: string): Match {
  const { number, holds } = bound(value);
  const limit = parseDuration(number);
  if (limit === undefined) throw new Error(`${JSON.stringify(number)} is not a duration; write for example dur:>50ms`);
  if (!holds) throw new Error("it needs one of > >= < <=");
  return (s) => s.durNS > 0 && holds(s.durNS, limit);
}

const units: Record<string, number> = { "": 1, b: 1, k: 1e3, kb: 1e3, m: 1e6, mb: 1e6 };

function size(value: string): Match {
  const { number, holds } = bound(value);
  const m = /^(\d{1,9})([a-z]*)$/.exec(number.toLowerCase());
  const unit = units[m?.[2] ?? "?"];
  if (!m || unit === undefined) throw new Error(`${JSON.stringify(number)} is not a size; write for example size:>10KB`);
  if (!holds) throw new Error("it needs one of > >= < <=");
  const limit = Number(m[1]) * unit;
  return (s) => s.bytes > 0 && holds(s.bytes, limit);
}

/** Matches if one of the names contains the pattern, or matches it if it has a *. */
function anyLike(of: (s: Subject) => string[], pattern: string): Match {
  // The same few names come again and again.
  const known = new Map<string, boolean>();
  const test = (name: string) => {
    let found = known.get(name);
    if (found === undefined) {
      found = name !== "" && like(name.toLowerCase(), pattern);
      if (known.size < 10_000) known.set(name, found);
    }
    return found;
  };
  return (s) => of(s).some(test);
}

function like(name: string, pattern: string): boolean {
  const parts = pattern.split("*");
  if (parts.length === 1) return name.includes(pattern);
  const first = parts[0] ?? "";
  const last = parts[parts.length - 1] ?? "";
  if (!name.startsWith(first)) return false;
  name = name.slice(first.length);
  for (const part of parts.slice(1, -1)) {
    const at = name.indexOf(part);
    if (at < 0) return false;
    name = name.slice(at + part.length);
  }
  return name.endsWith(last);
}
