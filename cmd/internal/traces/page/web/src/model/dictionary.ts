// Words that a trace may hold, as keys. A plain object also has "constructor" and the like.

/** Returns an object that has the given keys and no others. */
export function dictionary<T>(entries: Record<string, T>): Readonly<Record<string, T | undefined>> {
  return Object.assign(Object.create(null) as Record<string, T>, entries);
}
