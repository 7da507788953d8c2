import { UnreachableError, type GatewayError } from "./errors.js";

/**
 * How often a request is sent again, and how long is waited before that, in milliseconds.
 *
 * Reads are repeated whenever that may help. A call is repeated only when it cannot have run: when no connection was made, or
 * when the gateway refused it and said when to come back.
 */
export interface Retry {
  times: number;
  firstWait: number;
  longestWait: number;
}

export const usualRetry: Retry = { times: 2, firstWait: 250, longestWait: 10_000 };

// With these and a Retry-After the gateway has refused a request before it asked a server: a call has not run.
const notRun = new Set(["rate_limited", "overloaded", "unavailable", "upstream_gone"]);
const passing = new Set([429, 502, 503, 504]);

/** The milliseconds to wait before a request is sent again, undefined to give up. The first attempt is 0. */
export function waitAfter(
  error: GatewayError,
  retry: Retry,
  attempt: number,
  reading: boolean,
  asked: number | undefined,
): number | undefined {
  if (attempt >= retry.times || (asked ?? 0) > retry.longestWait) return undefined;
  const answered = error.status !== undefined;
  const again = reading
    ? !answered || passing.has(error.status!)
    : error instanceof UnreachableError || (asked !== undefined && notRun.has(error.code));
  return again ? Math.max(asked ?? 0, backoff(retry, attempt)) : undefined;
}

// It doubles, and half of it is by chance so that clients spread.
function backoff(retry: Retry, attempt: number): number {
  return Math.min(retry.longestWait, retry.firstWait * 2 ** attempt) * (0.5 + Math.random() / 2);
}

/** The milliseconds of Retry-After, which may be a date. */
export function retryAfter(response: Response): number | undefined {
  const text = response.headers.get("Retry-After") ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** Waits, or until the signal; then it throws the signal's reason. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
