// Makes text from a trace safe to show: the same rule as package mcpwire/sanitize. Hidden
// characters are those that are blank but not a space, have no width, change how others look, or
// have no agreed meaning. They are shown as escapes, so that a person sees them.

// Unicode's Other_Default_Ignorable_Code_Point and Variation_Selector have no property escapes in
// JavaScript. Default_Ignorable_Code_Point holds both, and otherwise only characters of the
// category Cf, which are hidden anyway.
const hidden = /\p{C}|\p{Z}|\p{Default_Ignorable_Code_Point}|\u2800/u;
const plain = /^[ -~]*$/;
const mark = /\p{M}/u;
const MAX_MARKS = 4;

/** Reports whether a character is shown as an escape. */
export function isHidden(char: string): boolean {
  return char !== " " && hidden.test(char);
}

function escapeOf(char: string): string {
  switch (char) {
    case "\n":
      return "\\n";
    case "\r":
      return "\\r";
    case "\t":
      return "\\t";
  }
  let text = "";
  for (let i = 0; i < char.length; i++) text += "\\u" + char.charCodeAt(i).toString(16).padStart(4, "0");
  return text;
}

/** Returns text on one line, with escapes in place of hidden characters. */
export function visible(text: string): string {
  return replace(text, false);
}

/** Does so, but keeps line breaks and tabs. */
export function visibleLines(text: string): string {
  return replace(text, true);
}

function replace(text: string, lines: boolean): string {
  if (plain.test(text)) return text;
  let out = "";
  let marks = 0;
  for (const char of text) {
    marks = mark.test(char) ? marks + 1 : 0;
    if (lines && (char === "\n" || char === "\t")) out += char;
    else out += isHidden(char) || marks > MAX_MARKS ? escapeOf(char) : char;
  }
  return out;
}
