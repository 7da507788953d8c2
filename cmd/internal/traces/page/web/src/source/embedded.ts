// Reads the traces that toolman trace html has put into the page.

import { Trace } from "../model/trace.ts";

interface Block {
  readonly name?: string;
  readonly lines?: string | readonly string[];
  readonly diff?: unknown;
}

const PIECE = 256 << 10;

/** What is in the page. The traces are still empty: load fills them in slices. */
export interface Embedded {
  readonly traces: Trace[];
  readonly diff: unknown;
  load(changed: () => void): Generator<void>;
}

export function readEmbedded(): Embedded | undefined {
  const blocks: Block[] = [];
  for (const script of document.querySelectorAll('script[type="application/json"]')) {
    blocks.push(JSON.parse(script.textContent ?? "{}") as Block);
    script.remove(); // its text is as large as the trace
  }
  const files = blocks.filter((b) => b.lines !== undefined);
  if (files.length === 0) return undefined;
  const traces = files.map((b, i) => new Trace(`f${i}`, b.name ?? `trace ${i + 1}`));
  return { traces, diff: blocks.find((b) => b.diff !== undefined)?.diff, load: (changed) => load(files, traces, changed) };
}

function* load(files: Block[], traces: Trace[], changed: () => void): Generator<void> {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  for (let i = 0; i < files.length; i++) {
    const trace = traces[i];
    let lines = files[i]?.lines ?? "";
    files[i] = {};
    for (const text of typeof lines === "string" ? [lines] : lines) {
      lines = "";
      for (let at = 0; at < text.length; ) {
        let end = at + PIECE < text.length ? text.indexOf("\n", at + PIECE) : text.length;
        if (end < 0) end = text.length;
        // A copy: a slice would keep the whole, with two bytes for each character if one needs
        // them.
        trace?.add(decoder.decode(encoder.encode(text.slice(at, end))));
        at = end + 1;
        changed();
        yield;
      }
    }
    if (trace) trace.state = "file";
    changed();
  }
}
