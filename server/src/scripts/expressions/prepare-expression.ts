/**
 * The exact source that CPython compiles for an expression, and that the server analyzes: both must read the same text.
 *
 * Padding is removed, and an expression of several lines is put into parentheses, because authors omit them in YAML
 * block scalars (`data.a +` on one line, `data.b` on the next).
 */
import { parsePython } from './parse-python.js';

export interface PreparedExpression {
  readonly text: string;
  /** The start of the text in the source, used to convert positions back. */
  readonly linesBefore: number;
  readonly columnsBefore: number;
}

const PADDING = ' \t\n\f';
const ENCLOSED = new Set(['ParenthesizedExpression', 'TupleExpression']);
/** Longer texts are compiled unchanged. */
const MAX_ENCLOSED_LENGTH = 20_000;

export function prepareExpression(source: string): PreparedExpression {
  // CPython's tokenizer does the same, even inside string literals.
  const unix = source.replaceAll(/\r\n?/g, '\n');
  const { start, end } = findText(unix);
  const padding = unix.slice(0, start);
  const text = unix.slice(start, end);
  const linesBefore = padding.split('\n').length - 1;
  const columnsBefore = padding.length - (padding.lastIndexOf('\n') + 1);
  if (!text.includes('\n') || text.length > MAX_ENCLOSED_LENGTH) {
    return { text, linesBefore, columnsBefore };
  }
  const enclosed = `(${text}\n)`;
  return isOneGroup(enclosed)
    ? { text: enclosed, linesBefore, columnsBefore: columnsBefore - 1 }
    : { text, linesBefore, columnsBefore };
}

/**
 * The end of the padding before the text, and the start of the padding after it. A regular expression would try every
 * position.
 */
function findText(source: string): { start: number; end: number } {
  const isPadding = (index: number): boolean => PADDING.includes(source.charAt(index));
  let start = 0;
  let end = source.length;
  while (start < end && isPadding(start)) start += 1;
  while (end > start && isPadding(end - 1)) end -= 1;
  return { start, end };
}

/**
 * False for a text such as `a) + (b`, whose own brackets do not match. True for other invalid texts: CPython's error is
 * better if a line end is not the first token that it does not expect.
 */
function isOneGroup(text: string): boolean {
  const script = parsePython(text);
  if (script === null) return true;
  const statement = script.firstChild;
  const group = statement?.firstChild;
  if (!statement || !group || statement.nextSibling !== null) return false;
  return ENCLOSED.has(group.name) && group.from === 0 && group.to === text.length;
}

/** Converts a position that CPython reported for the prepared text into a position in the source. */
export function placeInSource(
  prepared: PreparedExpression,
  line: number,
  column: number | null,
): { line: number; column: number | null } {
  const moved = column === null || line !== 1 ? column : column + prepared.columnsBefore;
  return { line: line + prepared.linesBefore, column: moved === null ? null : Math.max(1, moved) };
}
