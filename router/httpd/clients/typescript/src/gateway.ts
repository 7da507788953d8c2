import { errorOf, GatewayError, noAnswer } from "./errors.js";
import { toolCalls, turns, type Turns } from "./providers.js";
import { retryAfter, sleep, usualRetry, waitAfter, type Retry } from "./retry.js";
import type { CallResult, Format, Health, JSONObject, LogEntry, Provider, Slim, Tool } from "./types.js";

/** How a gateway is reached. */
export interface GatewayOptions {
  /** The bearer token, if the gateway wants one. */
  token?: string;
  /** Whose tools these are, where that is for the program to say. */
  agent?: string;
  /** The milliseconds that one attempt may take, from connecting to the answer's last byte; 60,000 if not given. */
  timeout?: number;
  retry?: Partial<Retry>;
  /** In place of the global fetch, for proxies and certificates of its own. */
  fetch?: typeof fetch;
}

/** Options of any one request. */
export interface RequestOptions {
  /** In place of the gateway's. */
  timeout?: number;
  /** Ends the request: it throws the signal's reason. */
  signal?: AbortSignal;
}

/** Options of one call. */
export interface CallOptions extends RequestOptions {
  /** Finds the call in the gateway's log, trace and audit. One is made if none is given. */
  correlationId?: string;
}

interface Sent extends CallOptions {
  method?: "GET" | "POST"; // otherwise as the body has it
  body?: JSONObject;
  query?: Record<string, string | number | boolean | undefined>;
  accepted?: number[]; // statuses whose answer is no error
}

/** A gateway's tools. Every method throws a GatewayError when it is not answered as it should be. */
export class ToolGateway {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #agent: string | undefined;
  readonly #timeout: number;
  readonly #retry: Retry;
  readonly #fetch: typeof fetch;

  /** The URL is where the gateway serves, without a path. */
  constructor(url: string | URL, options: GatewayOptions = {}) {
    this.#url = String(url).replace(/\/+$/, "");
    this.#headers = options.token ? { Authorization: `Bearer ${options.token}` } : {};
    this.#agent = options.agent;
    this.#timeout = options.timeout ?? 60_000;
    this.#retry = { ...usualRetry, ...options.retry };
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
  }

  /** Calls a tool by its server's own name for it. That the tool says it failed is a result, not an exception. */
  callTool(server: string, tool: string, args: JSONObject = {}, options: CallOptions = {}): Promise<CallResult> {
    return this.#post("/call_tool", { server, tool, arguments: args }, options);
  }

  /**
   * The tools of one server or of all; with a format, as the provider's API takes them. `slim` shortens descriptions,
   * `"max"` leaves them out; neither changes which arguments are valid.
   */
  tools(which?: { server?: string; format?: undefined } & RequestOptions): Promise<Tool[]>;
  tools<T = JSONObject>(which: { server?: string; format: Format; slim?: Slim } & RequestOptions): Promise<T[]>;
  tools(which: { server?: string; format?: Format | undefined; slim?: Slim } & RequestOptions = {}): Promise<any> {
    const { server, format, slim, ...options } = which;
    return this.#send("/tools", { ...options, method: "POST", query: { server, format, slim: slim || undefined } });
  }

  /** The latest calls, the newest last. */
  logs(which: { server?: string; since?: Date | string; limit?: number } & RequestOptions = {}): Promise<LogEntry[]> {
    const { server, since, limit, ...options } = which;
    return this.#send("/logs", { ...options, query: { server, since: since instanceof Date ? since.toISOString() : since, limit } });
  }

  /** How the gateway and its servers are. One that wants no requests is an answer, not an exception. */
  health(options: RequestOptions = {}): Promise<Health> {
    return this.#send("/health", { ...options, accepted: [200, 503] });
  }

  /**
   * Makes calls given as the provider's own objects, and returns its own result objects in their order. A call that fails has a
   * result that says so to the model.
   */
  async execute<Result = JSONObject>(provider: Provider, calls: readonly object[], options: CallOptions = {}): Promise<Result[]> {
    const answer = await this.#post<{ tool_results: Result[] }>("/execute", { provider, tool_calls: calls }, options);
    return answer.tool_results;
  }

  /**
   * Makes the tool calls of a model's reply, and returns what to add to the conversation after it: nothing when it calls no
   * tool. See toolCalls for what a reply may be, and for `leave`.
   */
  async answer<P extends Provider>(
    provider: P,
    reply: unknown,
    { leave = [], ...options }: CallOptions & { leave?: readonly string[] } = {},
  ): Promise<Turns[P][]> {
    const calls = toolCalls(provider, reply, leave);
    const results = calls.length > 0 ? await this.execute(provider, calls, options) : [];
    return turns(provider, results) as unknown[] as Turns[P][];
  }

  #post<T>(path: string, body: JSONObject, options: CallOptions): Promise<T> {
    return this.#send(path, { ...options, body });
  }

  async #send<T>(path: string, sent: Sent): Promise<T> {
    const correlationId = sent.correlationId ?? newId();
    const body = sent.body && JSON.stringify(sent.body);
    for (let attempt = 0; ; attempt++) {
      let asked: number | undefined;
      try {
        const response = await this.#request(path, sent, body, correlationId);
        asked = retryAfter(response);
        return await read<T>(response, sent.accepted ?? [200], correlationId);
      } catch (error) {
        sent.signal?.throwIfAborted();
        const problem = error instanceof GatewayError ? error : noAnswer(error, correlationId);
        const wait = waitAfter(problem, this.#retry, attempt, body === undefined, asked);
        if (wait === undefined) throw problem;
        await sleep(wait, sent.signal);
      }
    }
  }

  #request(path: string, sent: Sent, body: string | undefined, correlationId: string): Promise<Response> {
    const limit = AbortSignal.timeout(sent.timeout ?? this.#timeout);
    return this.#fetch(this.#url + path + queryOf({ ...sent.query, agent: this.#agent }), {
      method: sent.method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        ...this.#headers,
        "X-Correlation-Id": correlationId,
        ...(body !== undefined && { "Content-Type": "application/json" }),
      },
      body: body ?? null,
      redirect: "error", // the token is for this gateway
      signal: sent.signal ? AbortSignal.any([limit, sent.signal]) : limit,
    });
  }
}

async function read<T>(response: Response, accepted: number[], correlationId: string): Promise<T> {
  const text = await response.text();
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw errorOf(response.status, undefined, correlationId);
  }
  if (!accepted.includes(response.status)) throw errorOf(response.status, answer, correlationId);
  return answer as T;
}

function queryOf(query: NonNullable<Sent["query"]>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return given.length > 0 ? `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : "";
}

// crypto.randomUUID is not there on pages without TLS.
function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
