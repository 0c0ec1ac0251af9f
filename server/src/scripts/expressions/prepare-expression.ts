/**
 * The exact text that CPython compiles for an expression, and that the server judges: both must read the same.
 *
 * Padding is cut off, and an expression of several lines is put into parentheses, because YAML block texts are written
 * without them (`data.a +` on one line, `data.b` on the next).
 */
import { parsePython } from './parse-python.js';

export interface PreparedExpression {
  readonly text: string;
  /** Where the text began in the source, to give places in the source back. */
  readonly linesBefore: number;
  readonly columnsBefore: number;
}

const PADDING = ' \t\n\f';
const ENCLOSED = new Set(['ParenthesizedExpression', 'TupleExpression']);
/** Longer texts are compiled as they are. */
const MAX_ENCLOSED_LENGTH = 20_000;

export function prepareExpression(source: string): PreparedExpression {
  // CPython's tokenizer does the same, also inside of texts.
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

/** Where the padding before the text ends, and the padding behind it begins. A regular expression would try each place. */
function findText(source: string): { start: number; end: number } {
  const isPadding = (index: number): boolean => PADDING.includes(source.charAt(index));
  let start = 0;
  let end = source.length;
  while (start < end && isPadding(start)) start += 1;
  while (end > start && isPadding(end - 1)) end -= 1;
  return { start, end };
}

/**
 * False for a text such as `a) + (b`, whose own brackets do not match. True for what is wrong in other ways: CPython words
 * the error better when a line end is not the first thing that it does not expect.
 */
function isOneGroup(text: string): boolean {
  const script = parsePython(text);
  if (script === null) return true;
  const statement = script.firstChild;
  const group = statement?.firstChild;
  if (!statement || !group || statement.nextSibling !== null) return false;
  return ENCLOSED.has(group.name) && group.from === 0 && group.to === text.length;
}

/** A place that CPython reported for the prepared text, as a place in the source. */
export function placeInSource(
  prepared: PreparedExpression,
  line: number,
  column: number | null,
): { line: number; column: number | null } {
  const moved = column === null || line !== 1 ? column : column + prepared.columnsBefore;
  return { line: line + prepared.linesBefore, column: moved === null ? null : Math.max(1, moved) };
}
