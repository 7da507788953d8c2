// Writes JSON over several lines without decoding it: numbers and repeated keys stay as they are.

import { visible } from "./sanitize.ts";
import { skip } from "./scan.ts";

/** Returns JSON text with a line for each member, and escapes in place of hidden characters. */
export function indent(s: string): string {
  let out = "";
  let depth = 0;
  const line = () => "\n" + "  ".repeat(Math.min(depth, 100));
  for (let i = 0; i < s.length;) {
    const c = s[i] ?? "";
    if (c === '"') {
      const end = skip(s, i, s.length);
      if (end < 0) return out + visible(s.slice(i));
      out += visible(s.slice(i, end));
      i = end;
      continue;
    }
    i++;
    if (c === "{" || c === "[") {
      const rest = /^\s*[}\]]/.exec(s.slice(i, i + 20));
      if (rest) {
        out += c + rest[0].trim();
        i += rest[0].length;
        continue;
      }
      depth++;
      out += c + line();
    } else if (c === "}" || c === "]") {
      depth--;
      out += line() + c;
    } else if (c === ",") {
      out += c + line();
    } else if (c === ":") {
      out += ": ";
    } else if (c.trim()) {
      out += c;
    }
  }
  return out;
}
