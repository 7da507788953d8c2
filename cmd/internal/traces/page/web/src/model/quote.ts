// Writes what a person can paste: a command for a POSIX shell.

import { find, decode } from "./scan.ts";

/** Quotes a word for a POSIX shell. */
export function shellQuote(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * Returns the command that makes the call again: "toolman call SERVER TOOL --args …". The message
 * is the tools/call request as its server got it. Undefined if it is none.
 */
export function callCommand(server: string, message: string): string | undefined {
  const root = { start: 0, end: message.length };
  const method = find(message, root, ["method"]);
  const name = find(message, root, ["params", "name"]);
  if (!method || !name || message.slice(method.start, method.end) !== '"tools/call"' || message.charCodeAt(name.start) !== 34) return undefined;
  const words = ["toolman", "call"];
  const names = [server, decode(message.slice(name.start, name.end))];
  const args = find(message, root, ["params", "arguments"]);
  const given = args ? message.slice(args.start, args.end) : "{}";
  const options = given === "{}" || given === "null" ? [] : ["--args", oneLine(given)];
  // A name may look like an option; what follows -- cannot.
  if (names.some((n) => n.startsWith("-"))) return [...words, ...options, "--", ...names].map(shellQuote).join(" ");
  return [...words, ...names, ...options].map(shellQuote).join(" ");
}

/** Replaces the line breaks between the tokens of JSON; strings have none. */
function oneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, " ");
}
