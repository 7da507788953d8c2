// Splits the filter box into words, as a shell splits a command line.

export class WordError extends Error {}

/** Splits a line at spaces; quotes keep them. */
export function split(line: string): string[] {
  const words: string[] = [];
  let word = "";
  let quote = "";
  let begun = false;
  for (const char of line) {
    if (quote) {
      if (char === quote) quote = "";
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      begun = true;
    } else if (char === " " || char === "\t") {
      if (begun) words.push(word);
      word = "";
      begun = false;
    } else {
      word += char;
      begun = true;
    }
  }
  if (quote) throw new WordError(`the quote ${quote} has no end`);
  if (begun) words.push(word);
  return words;
}
