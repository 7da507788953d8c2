// Reads the traces that toolman trace open serves. The byte offset is the identity of a line: after
// a break, the page asks for what follows the last one that it has, so nothing is lost or shown
// twice.

import type { Trace } from "../model/trace.ts";

export interface RunFile {
  readonly id: string;
  readonly file: string;
  readonly name: string;
  readonly live: boolean;
  readonly size: number;
}

const token = new URLSearchParams(location.search).get("token") ?? "";

/** Returns the address of something that the server has. */
export function address(path: string, query: Record<string, string> = {}): string {
  return `${path}?${new URLSearchParams({ token, ...query }).toString()}`;
}

/** Gets JSON or text from the server. */
export async function get(path: string, query: Record<string, string> = {}): Promise<Response> {
  const answer = await fetch(address(path, query), { cache: "no-store" });
  if (!answer.ok) throw new Error((await answer.text()).slice(0, 300) || answer.statusText);
  return answer;
}

export async function listFiles(): Promise<RunFile[]> {
  return (await (await get("/runs")).json()) as RunFile[];
}

export async function wholeLine(file: string, at: number): Promise<string> {
  return (await get("/line", { file, at: String(at) })).text();
}

const MAX_WAIT = 5000;

/** Follows one file for as long as the page is open. */
export class Follower {
  #offset = 0;
  #stopped = false;
  readonly #trace: Trace;
  readonly #changed: () => void;

  constructor(trace: Trace, changed: () => void) {
    this.#trace = trace;
    this.#changed = changed;
    void this.#run();
  }

  stop(): void {
    this.#stopped = true;
  }

  async #run(): Promise<void> {
    for (let wait = 250; !this.#stopped; wait = Math.min(MAX_WAIT, wait * 2)) {
      const before = this.#offset;
      try {
        await this.#read();
      } catch {
        // The server is away; it is asked again.
      }
      if (this.#offset !== before) wait = 125;
      this.#set("retry");
      await new Promise((next) => setTimeout(next, wait));
    }
  }

  #set(state: Trace["state"]): void {
    if (this.#trace.state === state) return;
    this.#trace.state = state;
    this.#changed();
  }

  async #read(): Promise<void> {
    const answer = await fetch(address("/events", { file: this.#trace.id, from: String(this.#offset) }), {
      headers: { Accept: "text/event-stream" }, cache: "no-store",
    });
    if (!answer.ok || !answer.body) throw new Error(answer.statusText);
    this.#set("loading");
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += value;
      // Events end with an empty line.
      const end = rest.lastIndexOf("\n\n");
      if (end < 0) continue;
      for (const event of rest.slice(0, end).split("\n\n")) this.#event(event);
      rest = rest.slice(end + 2);
      this.#changed();
    }
  }

  #event(event: string): void {
    let id: string | undefined;
    let name = "message";
    const data: string[] = [];
    for (const line of event.split("\n")) {
      if (line.startsWith("data:")) data.push(line.slice(line.charCodeAt(5) === 32 ? 6 : 5));
      else if (line.startsWith("id:")) id = line.slice(3).trim();
      else if (line.startsWith("event:")) name = line.slice(6).trim();
    }
    if (name === "reset") {
      this.#offset = 0;
      this.#trace.reset();
      this.#set("loading");
    } else if (name === "live") {
      this.#set("live");
    } else if (data.length > 0 && name === "message") {
      this.#trace.add(data.join("\n"));
    }
    if (id && name !== "reset") this.#offset = Number(id);
  }
}
