/** Finds the ranges in a text for the problems that the server reports. Pure. */
import type { ProblemItem } from '@stepwright/sdk';
import { isMap, isScalar, isSeq, parseDocument, type Node } from 'yaml';
import type { EditorProblem } from './editor-problem.js';

interface Span {
  readonly from: number;
  readonly to: number;
}

type PlacedProblem = Pick<ProblemItem, 'message' | 'pointer' | 'line' | 'column'>;

/** A problem without a position is shown at the start of the text. */
export function placeProblems(
  text: string,
  items: readonly PlacedProblem[],
  isWarning: boolean,
): EditorProblem[] {
  const root = items.some(({ pointer, line }) => pointer !== undefined && line === undefined)
    ? parseDocument(text, { logLevel: 'silent' }).contents
    : null;
  return items.map(({ message, line, column, pointer }) => ({
    ...(line === undefined
      ? spanOfPointer(root, pointer ?? '')
      : spanOfPlace(text, line, column ?? 1)),
    message,
    isWarning,
  }));
}

/** The errors of syntax in YAML, or in JSON, which is valid YAML. */
export function syntaxProblems(text: string): EditorProblem[] {
  const { errors } = parseDocument(text, { logLevel: 'silent', prettyErrors: false });
  return errors.map(({ message, pos: [from, to] }) => ({ from, to, message, isWarning: false }));
}

function spanOfPlace(text: string, line: number, column: number): Span {
  let start = 0;
  for (let at = 1; at < line; at += 1) {
    const end = text.indexOf('\n', start);
    if (end === -1) break;
    start = end + 1;
  }
  const end = text.indexOf('\n', start);
  const lineEnd = end === -1 ? text.length : end;
  const from = Math.min(start + column - 1, lineEnd);
  return { from, to: lineEnd };
}

/** JSON is valid YAML, so one parser is enough for both. */
function spanOfPointer(root: Node | null, pointer: string): Span {
  let node: unknown = root;
  let span: Span = { from: 0, to: 1 };
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (isMap(node)) {
      const pair = node.items.find(({ key: name }) => isScalar(name) && String(name.value) === key);
      if (pair === undefined) break;
      span = spanOf(pair.key) ?? span;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(key)];
    } else break;
    if (!isMap(node)) span = spanOf(node) ?? span;
  }
  return span;
}

function spanOf(node: unknown): Span | null {
  if (typeof node !== 'object' || node === null || !('range' in node)) return null;
  const { range } = node;
  if (!Array.isArray(range)) return null;
  // Array.isArray narrows to any[].
  const [from, to] = range as readonly unknown[];
  return typeof from === 'number' && typeof to === 'number' ? { from, to } : null;
}
