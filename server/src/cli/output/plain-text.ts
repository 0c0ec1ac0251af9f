/**
 * Sanitizes untrusted text for terminals.
 *
 * Data, errors and names come from anyone who can start a run. In a terminal, their control characters could move the cursor, set
 * the title or clear the screen, and bidirectional marks could reorder text.
 */
const HARMFUL =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** On one line: line breaks are shown as `\n`. */
export function plain(text: string): string {
  return text.replaceAll(HARMFUL, escaped);
}

/** Keeps line breaks and tabs. */
export function plainLines(text: string): string {
  return text.replaceAll(HARMFUL, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  );
}

/**
 * Keeps line breaks, and marks each continuation line, so that it can't be mistaken for another message or for a GitHub Actions
 * command (`::…`), which may be indented.
 */
export function continued(text: string): string {
  return plainLines(text).replaceAll('\n', '\n  | ');
}

/** The colors of paint.ts. */
const COLORS = /(\u001b\[\d{1,3}(?:;\d{1,3}){0,4}m)/;

/** Sanitizes complete output lines: keeps line breaks, tabs and colors. No other control character reaches a terminal. */
export function printable(text: string): string {
  return text
    .split(COLORS)
    .map((part, index) => (index % 2 === 1 ? part : plainLines(part)))
    .join('');
}

/** In JSON string notation. */
function escaped(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  if (character === '\r') return '\\r';
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
