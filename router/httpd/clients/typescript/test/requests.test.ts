import assert from "node:assert/strict";
import { createServer, type AddressInfo } from "node:net";
import { after, before, beforeEach, test } from "node:test";

import * as client from "@mcp-tool-gateway/client";
import { hangUp, never, ok, refusal, Scripted, type Answer } from "./scripted.js";

const comeBack = { "Retry-After": "0" };
const scripted = new Scripted();
let url: string;
let gateway: client.ToolGateway;

before(async () => {
  url = await scripted.listen();
  gateway = connect();
});
beforeEach(() => void (scripted.got = []));
after(() => scripted.close());

function connect(options: client.GatewayOptions = {}): client.ToolGateway {
  return new client.ToolGateway(url, { retry: { firstWait: 1, longestWait: 500 }, ...options });
}

async function failure(request: Promise<unknown>): Promise<client.GatewayError> {
  const error: unknown = await request.then(
    () => assert.fail("it is answered"),
    (error: unknown) => error,
  );
  assert.ok(error instanceof client.GatewayError, String(error));
  return error;
}

test("a call is sent as the API has it", async () => {
  scripted.answers = [ok];
  const gateway = new client.ToolGateway(url + "/", { token: "abc" });
  const result = await gateway.callTool("fs", "read", { path: "x" }, { correlationId: "mine" });
  const [{ path, headers, body }] = scripted.got as [(typeof scripted.got)[0]];
  assert.deepEqual([path, body], ["/call_tool", { server: "fs", tool: "read", arguments: { path: "x" } }]);
  assert.equal(headers.authorization, "Bearer abc");
  assert.equal(headers["x-correlation-id"], "mine");
  assert.equal(result.correlation_id, "theirs");
});

test("each request has a correlation id of its own, which its repetitions share", async () => {
  scripted.answers = [refusal(429, "rate_limited", comeBack), ok];
  await gateway.callTool("fs", "read");
  await gateway.callTool("fs", "read");
  const [first, again, second] = scripted.got.map((got) => got.headers["x-correlation-id"]);
  assert.match(first as string, /^[0-9a-f]{32}$/);
  assert.equal(first, again);
  assert.notEqual(first, second);
});

test("queries hold what is asked for and no more", async () => {
  scripted.answers = [[200, {}, []]];
  await gateway.tools();
  await gateway.tools({ server: "a&b", format: "openai", slim: true });
  await gateway.tools({ format: "mcp", slim: "max" });
  await gateway.logs({ since: new Date(0), limit: 3 });
  await connect({ agent: "judge" }).tools({ server: "fs" });
  assert.deepEqual(
    scripted.got.map((got) => got.path),
    ["/tools", "/tools?server=a%26b&format=openai&slim=true", "/tools?format=mcp&slim=max", "/logs?since=1970-01-01T00%3A00%3A00.000Z&limit=3", "/tools?server=fs&agent=judge"],
  );
});

for (const [name, answer, reading, calling] of [
  ["too many requests", refusal(429, "rate_limited", comeBack), true, true],
  ["too much to do", refusal(503, "overloaded", comeBack), true, true],
  ["not now, without saying when", refusal(503, "unavailable"), true, false],
  ["a server that went during the call", refusal(503, "upstream_gone"), true, false],
  ["a tool that took too long", refusal(504, "timeout"), true, false],
  ["a server that was not asked", refusal(503, "upstream_gone", comeBack), true, true],
  ["not now, by something before the gateway", [503, comeBack, "<html>"], true, false],
  ["an unknown tool", refusal(404, "unknown_tool", comeBack), false, false],
  ["come back tomorrow", refusal(429, "rate_limited", { "Retry-After": "86400" }), false, false],
  ["no answer", [hangUp, {}, null], true, false],
] as [string, Answer, boolean, boolean][]) {
  test(`${name}: a read is ${reading ? "" : "not "}repeated, a call ${calling ? "" : "not "}`, async () => {
    scripted.answers = [answer, [200, {}, []]];
    await gateway.logs().catch(() => assert.ok(!reading));
    assert.equal(scripted.got.length, reading ? 2 : 1);
    scripted.got = [];
    scripted.answers = [answer, [200, {}, { tool_results: [] }]];
    await gateway.execute("openai", []).catch(() => assert.ok(!calling));
    assert.equal(scripted.got.length, calling ? 2 : 1);
  });
}

test("it gives up", async () => {
  scripted.answers = [refusal(503, "unavailable")];
  await failure(gateway.tools());
  assert.equal(scripted.got.length, 3);
});

test("a call to nobody was not sent", async () => {
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, "127.0.0.1", resolve));
  const { port } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  let tries = 0;
  const gateway = new client.ToolGateway(`http://127.0.0.1:${port}`, {
    retry: { firstWait: 1 },
    fetch: (input, init) => (tries++, fetch(input, init)),
  });
  const error = await failure(gateway.callTool("fs", "read", {}, { correlationId: "mine" }));
  assert.ok(error instanceof client.UnreachableError);
  assert.deepEqual([error.code, error.status, error.correlationId], ["unreachable", undefined, "mine"]);
  assert.equal(tries, 3);
});

test("a fetch that does not say why it failed may have sent the call", async () => {
  let tries = 0;
  const fetch = () => (tries++, Promise.reject(new TypeError("Failed to fetch")));
  assert.ok((await failure(connect({ fetch }).callTool("fs", "read"))) instanceof client.NoAnswerError);
  assert.equal(tries, 1);
});

test("a call that is not answered in time may have run", async () => {
  scripted.answers = [[never, {}, null]];
  assert.ok((await failure(gateway.callTool("fs", "read", {}, { timeout: 1000 }))) instanceof client.NoAnswerError);
  assert.equal(scripted.got.length, 1);
});

test("a signal ends a request, and the wait before the next attempt, with its reason", async () => {
  const stopped = new AbortController();
  scripted.answers = [[never, {}, null]];
  scripted.onRequest = () => stopped.abort("no more");
  await assert.rejects(gateway.logs({ signal: stopped.signal }), (reason) => reason === "no more");
  scripted.onRequest = () => {};
  assert.equal(scripted.got.length, 1);

  const stop = new AbortController();
  scripted.answers = [refusal(503, "unavailable", { "Retry-After": "3600" })];
  const fetchAndStop: typeof fetch = async (...args) => {
    const response = await fetch(...args);
    setTimeout(() => stop.abort("enough"), 100);
    return response;
  };
  const patient = connect({ retry: { longestWait: 3_600_000 }, fetch: fetchAndStop });
  await assert.rejects(patient.logs({ signal: stop.signal }), (reason) => reason === "enough");
});

for (const [code, status, kind] of [
  ["unknown_server", 404, client.NotFoundError],
  ["held", 403, client.DeniedError],
  ["unconfirmed", 403, client.DeniedError],
  ["invalid_arguments", 400, client.InvalidRequestError],
  ["unauthenticated", 401, client.UnauthenticatedError],
  ["too_large", 413, client.TooLargeError],
  ["overloaded", 503, client.UnavailableError],
  ["upstream_error", 502, client.UpstreamError],
  ["upstream_gone", 503, client.UpstreamError],
  ["timeout", 504, client.CallTimeoutError],
  ["of_tomorrow", 418, client.GatewayError],
  ["constructor", 418, client.GatewayError],
] as const) {
  test(`the code ${code} is a ${kind.name}`, async () => {
    scripted.answers = [refusal(status, code)];
    const error = await failure(gateway.callTool("fs", "read"));
    assert.equal(error.constructor, kind);
    assert.equal(error.name, kind.name);
    assert.deepEqual([error.code, error.status, error.details, error.correlationId], [code, status, { at: "/path" }, "theirs"]);
  });
}

for (const [name, answer, kind] of [
  ["a web page", [200, {}, "<html>"], client.BadAnswerError],
  ["a proxy's refusal", [401, {}, "<html>"], client.UnauthenticatedError],
  ["JSON-RPC", [403, {}, { jsonrpc: "2.0", error: { code: -32600, message: "no" }, id: null }], client.DeniedError],
  ["a list", [404, {}, []], client.BadAnswerError],
  ["elsewhere", [307, { Location: "/elsewhere" }, ""], client.NoAnswerError],
] as [string, Answer, typeof client.GatewayError][]) {
  test(`what is not the API is told from it: ${name}`, async () => {
    scripted.answers = [answer];
    const error = await failure(gateway.callTool("fs", "read", {}, { correlationId: "mine" }));
    assert.deepEqual([error.constructor, error.correlationId], [kind, "mine"]);
    assert.equal(scripted.got.length, 1);
  });
}

test("a gateway that wants no requests says so", async () => {
  scripted.answers = [[503, {}, { ok: false, problem: "toolman is ending", servers: [] }]];
  assert.equal((await gateway.health()).ok, false);
});
