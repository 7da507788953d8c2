import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A status: the connection is closed without an answer. */
export const hangUp = 0;
/** A status: there is no answer. */
export const never = -1;

export type Answer = [status: number, headers: Record<string, string>, body: unknown];

export const ok: Answer = [200, {}, { result: { content: [] }, correlation_id: "theirs" }];

/** An answer that is an error. */
export function refusal(status: number, code: string, headers: Record<string, string> = {}): Answer {
  return [status, headers, { error: { code, message: "no", details: { at: "/path" } }, correlation_id: "theirs" }];
}

export interface Got {
  path: string;
  headers: IncomingHttpHeaders;
  body: unknown;
}

/** A gateway that answers requests one after the other with what a test says, the last one for good. */
export class Scripted {
  answers: Answer[] = [];
  got: Got[] = [];
  onRequest = (): void => {};
  readonly #server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    this.got.push({ path: request.url!, headers: request.headers, body: text ? JSON.parse(text) : undefined });
    this.onRequest();
    const [status, headers, body] = this.answers[Math.min(this.got.length, this.answers.length) - 1]!;
    if (status === hangUp) request.socket.destroy();
    else if (status !== never) response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
