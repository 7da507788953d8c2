import assert from "node:assert/strict";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

import type { JSONObject } from "@mcp-tool-gateway/client";

import { assertAnswered, assertTools, type Api } from "./apis.js";
import type { Said, Heard } from "./script.js";

/** A provider's HTTP API with a model behind it that plays its turns. What breaks the API's rules is answered with 400. */
export class Endpoint {
  /** How many turns the model has played. */
  played = 0;
  offered: string[] = [];
  readonly #api: Api;
  readonly #turns: ((heard: Heard[]) => Said)[];
  readonly #server = createServer(async (request, response) => {
    let status = 200;
    let answer: JSONObject;
    try {
      assert.ok(request.url?.split("?")[0]?.endsWith(this.#api.path), request.url);
      answer = this.#answer(await bodyOf(request));
    } catch (error) {
      status = 400;
      answer = { error: { code: 400, type: "invalid_request_error", message: String(error) } };
    }
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
  });

  constructor(api: Api, turns: ((heard: Heard[]) => Said)[]) {
    this.#api = api;
    this.#turns = turns;
  }

  #answer(request: any): JSONObject {
    this.offered = assertTools(this.#api, request);
    const exchanges = this.#api.exchanges(request);
    assert.equal(exchanges.length, this.played, "the conversation is not whole");
    exchanges.forEach(assertAnswered);
    const turn = this.#turns[this.played++];
    assert.ok(turn, "the model has already said its last word");
    const said = turn(exchanges.at(-1)?.results ?? []);
    if ("text" in said) return this.#api.say(said.text);
    return this.#api.reply(said.calls.map(([name, args], i) => this.#api.call(this.played * 100 + i, name, args)));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}
