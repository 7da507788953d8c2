/** What is known of a request that went wrong. */
export interface Failure {
  code: string;
  status?: number | undefined;
  details?: unknown;
  correlationId: string;
  cause?: unknown;
}

/**
 * A request that was not answered as it should be.
 *
 * Its code is the gateway's stable word for what went wrong, or one of this client's own: "unreachable", "no_answer" and
 * "bad_answer".
 */
export class GatewayError extends Error {
  readonly code: string;
  /** The HTTP status; undefined without an answer. */
  readonly status: number | undefined;
  /** What the gateway adds, if anything. */
  readonly details: unknown;
  /** Finds the request in the gateway's log, trace and audit. */
  readonly correlationId: string;

  constructor(message: string, failure: Failure) {
    super(message, { cause: failure.cause });
    this.name = new.target.name;
    this.code = failure.code;
    this.status = failure.status;
    this.details = failure.details;
    this.correlationId = failure.correlationId;
  }
}

/** The gateway has no such server, or the server no such tool. */
export class NotFoundError extends GatewayError {}

/** The tool may not be called: by policy, because it is held back or not active, or because nobody can be asked for consent. */
export class DeniedError extends GatewayError {}

/** The gateway does not know the token. */
export class UnauthenticatedError extends GatewayError {}

/** The request is wrong, or the arguments are not valid by the tool's schema. */
export class InvalidRequestError extends GatewayError {}

/** The request or its result is larger than the gateway allows. */
export class TooLargeError extends GatewayError {}

/** Too many requests. None of them ran. */
export class RateLimitedError extends GatewayError {}

/** The gateway has too much to do, or is ending. */
export class UnavailableError extends GatewayError {}

/** The tool's server answered with an error, or is gone. */
export class UpstreamError extends GatewayError {}

/** The tool did not answer within the gateway's time limit. */
export class CallTimeoutError extends GatewayError {}

/** No connection could be made. Nothing was sent. */
export class UnreachableError extends GatewayError {}

/** The connection broke, or the client's own timeout passed. The call may have run. */
export class NoAnswerError extends GatewayError {}

/** What answered is not the gateway's API, or a newer one than this client knows. */
export class BadAnswerError extends GatewayError {}

const kinds: Record<string, typeof GatewayError> = {
  unknown_server: NotFoundError,
  unknown_tool: NotFoundError,
  denied: DeniedError,
  held: DeniedError,
  inactive: DeniedError,
  unconfirmed: DeniedError,
  forbidden: DeniedError,
  unauthenticated: UnauthenticatedError,
  invalid_arguments: InvalidRequestError,
  bad_request: InvalidRequestError,
  not_found: InvalidRequestError,
  method_not_allowed: InvalidRequestError,
  too_large: TooLargeError,
  rate_limited: RateLimitedError,
  overloaded: UnavailableError,
  unavailable: UnavailableError,
  upstream_error: UpstreamError,
  upstream_gone: UpstreamError,
  timeout: CallTimeoutError,
  bad_answer: BadAnswerError,
};

// Whatever stands before the API may refuse a request in words of its own.
const byStatus: Record<number, string> = { 401: "unauthenticated", 403: "forbidden", 413: "too_large", 429: "rate_limited" };

/** The error that an answer is. */
export function errorOf(status: number, answer: unknown, sentId: string): GatewayError {
  const { error, correlation_id } = members(answer);
  const told = members(error);
  const code = typeof told.code === "string" ? told.code : (byStatus[status] ?? "bad_answer");
  const message = typeof told.message === "string" ? told.message : `the answer is ${status} with no JSON of the API`;
  const correlationId = typeof correlation_id === "string" ? correlation_id : sentId;
  const kind = Object.hasOwn(kinds, code) ? kinds[code]! : GatewayError;
  return new kind(message, { code, status, details: told.details, correlationId });
}

/** The error that no answer is. */
export function noAnswer(cause: unknown, correlationId: string): GatewayError {
  const why = members(members(cause).cause).message ?? members(cause).message ?? cause;
  return unsent(cause)
    ? new UnreachableError(`no connection: ${why}`, { code: "unreachable", correlationId, cause })
    : new NoAnswerError(`no answer: ${why}`, { code: "no_answer", correlationId, cause });
}

// Node.js says in a failed fetch's cause which system call failed; of several addresses, for each. Browsers say nothing.
function unsent(error: unknown): boolean {
  const cause = members(members(error).cause);
  const causes = Array.isArray(cause.errors) && cause.errors.length > 0 ? cause.errors.map(members) : [cause];
  return causes.every((c) => c.syscall === "connect" || c.syscall === "getaddrinfo" || c.code === "UND_ERR_CONNECT_TIMEOUT");
}

function members(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
