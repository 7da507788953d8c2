// What a scripted model does, whoever provides it: turn by turn, after what it has heard of its last calls.
import assert from "node:assert/strict";
import { join } from "node:path";

import type { JSONObject } from "@mcp-tool-gateway/client";

/** A result as the model reads it. */
export interface Heard {
  failed: boolean;
  text: string;
}

export type Call = [tool: string, args: JSONObject];

/** Either calls, all at once, or what the model says in the end. */
export type Said = { calls: Call[] } | { text: string };

/** The file that the model writes, and what into it: it knows the note afterwards only from reading it. */
export const fileOf = (name: string, folder: string) => join(folder, "root", `${name}.txt`);
export const noteOf = (name: string) => `the note of ${name}`;

/** The turns of the model called name, which is also what it calls its file and its entity. */
export function script(name: string, folder: string): ((heard: Heard[]) => Said)[] {
  const path = fileOf(name, folder);
  let note = "";
  return [
    () => ({
      calls: [
        ["mcp__fs__write_file", { path, content: noteOf(name) }],
        ["mcp__memory__create_entities", { entities: [{ name, entityType: "model", observations: ["was here"] }] }],
        ["mcp__fs__read_text_file", { path: join(folder, "nothing.txt") }],
        ["mcp__fs__read_minds", { whose: "mine" }],
        ["mcp__fs__read_text_file", { path: 7 }],
        ["mcp__memory__delete_entities", { entityNames: [name] }],
      ],
    }),
    ([wrote, created, missing, unknown, bad, denied]) => {
      hears(wrote, false, /Successfully wrote/);
      hears(created, false, new RegExp(name));
      hears(missing, true, /ENOENT/);
      hears(unknown, true, /unknown_tool.*read_minds/);
      hears(bad, true, /invalid_arguments.*\/path/);
      hears(denied, true, /denied: tool memory_delete_entities is denied by policy/); // it was not offered either
      return {
        calls: [
          ["mcp__memory__open_nodes", { names: [name] }],
          ["mcp__fs__read_text_file", { path }],
        ],
      };
    },
    ([opened, read]) => {
      hears(opened, false, /was here/);
      note = /the note of [\w-]+/.exec(read?.text ?? "")?.[0] ?? `nothing in ${read?.text}`;
      return { calls: [["mcp__memory__add_observations", { observations: [{ entityName: name, contents: [note] }] }]] };
    },
    ([added]) => {
      hears(added, false, new RegExp(note));
      return { text: `I remember ${note}.` };
    },
  ];
}

function hears(heard: Heard | undefined, failed: boolean, text: RegExp): void {
  assert.ok(heard, `nothing is heard where ${text} should be`);
  assert.match(heard.text, text);
  assert.equal(heard.failed, failed, heard.text);
}
