// Durations and sizes: how they are read and written.

const units: Record<string, number> = { ns: 1, us: 1e3, "µs": 1e3, "μs": 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };

/** Reads a duration as Go's time.ParseDuration does, in nanoseconds; undefined if it is none. */
export function parseDuration(text: string): number | undefined {
  const m = /^([+-]?)(.*)$/s.exec(text);
  const rest = m?.[2] ?? "";
  if (rest === "0") return 0;
  if (!/^((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(rest)) return undefined;
  let sum = 0;
  for (const part of rest.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) sum += Math.round(Number(part[1]) * (units[part[2] ?? ""] ?? 0));
  return m?.[1] === "-" ? -sum : sum;
}

/** Formats microseconds with about three digits, as toolman trace does. */
export function formatDuration(us: number): string {
  if (us < 1_000) return `${Math.round(us)}µs`;
  if (us < 10_000) return `${(us / 1e3).toFixed(2)}ms`;
  if (us < 1_000_000) return `${Math.floor(us / 1e3)}ms`;
  if (us < 100_000_000) return `${(us / 1e6).toFixed(2)}s`;
  return `${Math.floor(us / 1e6)}s`;
}

/** Formats the time since the start of a run. */
export function formatSince(us: number): string {
  return `+${Math.floor(us / 1e6)}.${String(Math.floor(us / 1e3) % 1000).padStart(3, "0")}`;
}

/** Formats a number of bytes with about three digits. */
export function formatSize(n: number): string {
  if (n < 1_000) return `${n}B`;
  if (n < 100_000) return `${(n / 1e3).toFixed(1)}KB`;
  if (n < 1_000_000) return `${Math.floor(n / 1e3)}KB`;
  return `${(n / 1e6).toFixed(1)}MB`;
}

export function formatCount(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Formats microseconds since 1970 as a clock time in UTC, as the trace has it. */
export function formatClock(at: number): string {
  const time = new Date(at / 1000);
  return Number.isNaN(time.getTime()) ? "?" : time.toISOString().slice(11, 23); // a trace may say anything
}
