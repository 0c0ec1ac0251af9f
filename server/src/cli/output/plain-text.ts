/**
 * Text of others, made harmless for terminals.
 *
 * Data, errors and names come from anybody who can start a run. In a terminal, control characters in them could move the
 * cursor, set the title or clear the screen, and marks of direction could show text in another order.
 */
const HARMFUL =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** In one line: line breaks are shown as `\n`. */
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
 * Keeps line breaks, and marks each further line, so that none can be taken for another message, nor for a command to GitHub
 * Actions (`::…`), which may be indented.
 */
export function continued(text: string): string {
  return plainLines(text).replaceAll('\n', '\n  | ');
}

/** The colors of paint.ts. */
const COLORS = /(\u001b\[\d{1,3}(?:;\d{1,3}){0,4}m)/;

/** What is left in whole lines that are printed: line breaks, tabs and colors. No other control character reaches a terminal. */
export function printable(text: string): string {
  return text
    .split(COLORS)
    .map((part, index) => (index % 2 === 1 ? part : plainLines(part)))
    .join('');
}

/** In the form of JSON strings. */
function escaped(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  if (character === '\r') return '\\r';
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
