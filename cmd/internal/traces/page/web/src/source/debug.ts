// The connection to the debugger of a running toolman. When it ends, with the page for example,
// toolman forgets its rules and lets all messages go on.

import { find } from "../model/scan.ts";
import { address } from "./live.ts";

export interface Rule {
  n?: number;
  filter?: string[];
  from?: string;
  kind?: string;
  action: string;
  ms?: number;
  code?: number;
  text?: string;
  percent?: number;
  count?: number;
  taken?: number;
}

/** What toolman says: of a message, of the rules, or in reply to a command. */
export interface DebugEvent {
  readonly event: string;
  readonly seq?: number;
  readonly n?: number;
  readonly rule?: number;
  readonly taken?: number;
  readonly at?: string;
  readonly until?: string;
  readonly from?: string;
  readonly peer?: string;
  readonly kind?: string;
  readonly method?: string;
  readonly name?: string;
  readonly done?: string;
  readonly text?: string;
  readonly bytes?: number;
  readonly rules?: Rule[];
  readonly run?: string;
  readonly pid?: number;
  /** The message as text, and its ID. */
  raw: string;
  token: string;
}

export class DebugStream {
  readonly #end = new AbortController();
  readonly #heard: (e: DebugEvent) => void;
  readonly #ended: (why: string) => void;
  readonly #waiting = new Map<number, (why: string) => void>();
  #stream = "";
  #seq = 0;
  #sending: Promise<unknown> = Promise.resolve();

  /** Connects to a run of a file. */
  constructor(file: string, run: string, heard: (e: DebugEvent) => void, ended: (why: string) => void) {
    this.#heard = heard;
    this.#ended = ended;
    void this.#run(file, run);
  }

  close(): void {
    this.#end.abort();
  }

  async #run(file: string, run: string): Promise<void> {
    let why = "the connection has ended";
    try {
      const answer = await fetch(address("/debug", { file, run }), { cache: "no-store", signal: this.#end.signal });
      if (!answer.ok || !answer.body) throw new Error((await answer.text()).slice(0, 500) || answer.statusText);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      const pieces: string[] = [];
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        pieces.push(value);
        if (!value.includes("\n") && pieces.length > 0) continue;
        const text = pieces.join("");
        const end = text.lastIndexOf("\n\n");
        if (end < 0) continue;
        for (const event of text.slice(0, end).split("\n\n")) this.#event(event);
        pieces.splice(0, pieces.length, text.slice(end + 2));
      }
    } catch (e) {
      if (!this.#end.signal.aborted) why = e instanceof Error ? e.message : String(e);
    }
    for (const tell of this.#waiting.values()) tell(why);
    this.#waiting.clear();
    this.#ended(why);
  }

  #event(event: string): void {
    const data = event.slice(event.indexOf("data: ") + 6);
    if (event.startsWith(":")) return;
    if (event.startsWith("event: stream")) this.#stream = data.trim();
    if (event.startsWith("event:")) return;
    const said = JSON.parse(data) as DebugEvent;
    const root = { start: 0, end: data.length };
    const msg = find(data, root, ["msg"]);
    const id = find(data, root, ["id"]);
    said.raw = msg ? data.slice(msg.start, msg.end) : "";
    said.token = id ? data.slice(id.start, id.end) : "";
    if (said.event === "done" || said.event === "refused") {
      this.#waiting.get(said.seq ?? 0)?.(said.event === "done" ? "" : said.text ?? "refused");
      this.#waiting.delete(said.seq ?? 0);
    }
    this.#heard(said);
  }

  /** Sends a command, given as the members of an object, and returns why it was refused, or "". */
  command(members: string): Promise<string> {
    const seq = ++this.#seq;
    const reply = new Promise<string>((tell) => this.#waiting.set(seq, tell));
    const send = async () => {
      let why = "";
      try {
        const answer = await fetch(address("/debug", { stream: this.#stream }), { method: "POST", body: `{"seq":${seq},${members}}` });
        if (!answer.ok) why = (await answer.text()) || answer.statusText;
      } catch (e) {
        why = String(e);
      }
      if (why) {
        this.#waiting.get(seq)?.(why);
        this.#waiting.delete(seq);
      }
    };
    this.#sending = this.#sending.then(send); // in order
    return reply;
  }
}
