/** Rewrites `condition ? yes : no` as `yes if condition else no`, innermost first. */
import { maskLiterals } from './masked-code.js';

const ROUNDS_MAX = 10;
const OPENING = '([{';
const CLOSING = ')]}';
/** These end an operand, except inside brackets. */
const BOUNDARIES = ',:?';

export function rewriteConditionals(source: string): string {
  let text = source;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const rewritten = rewriteLast(text);
    if (rewritten === null) break;
    text = rewritten;
  }
  return text;
}

/** The last `?` is the innermost: no other one follows it in its operands. */
function rewriteLast(source: string): string | null {
  const code = maskLiterals(source);
  const mark = code.lastIndexOf('?');
  if (mark === -1) return null;
  const from = startOfOperand(code, mark);
  const colon = endOfOperand(code, mark + 1);
  if (code[colon] !== ':') return null;
  const to = endOfOperand(code, colon + 1);
  const [condition, yes, no] = [
    source.slice(from, mark).trim(),
    source.slice(mark + 1, colon).trim(),
    source.slice(colon + 1, to).trim(),
  ];
  if (condition === '' || yes === '' || no === '') return null;
  const space = /^\s*/.exec(source.slice(from, mark))?.[0] ?? '';
  return `${source.slice(0, from)}${space}${yes} if ${condition} else ${no}${source.slice(to)}`;
}

function startOfOperand(code: string, end: number): number {
  let depth = 0;
  for (let at = end - 1; at >= 0; at -= 1) {
    const letter = code.charAt(at);
    if (CLOSING.includes(letter)) depth += 1;
    else if (OPENING.includes(letter)) depth -= 1;
    if (depth < 0 || (depth === 0 && BOUNDARIES.includes(letter))) return at + 1;
  }
  return 0;
}

function endOfOperand(code: string, start: number): number {
  let depth = 0;
  for (let at = start; at < code.length; at += 1) {
    const letter = code.charAt(at);
    if (depth === 0 && BOUNDARIES.includes(letter)) return at;
    if (OPENING.includes(letter)) depth += 1;
    else if (CLOSING.includes(letter)) depth -= 1;
    if (depth < 0) return at;
  }
  return code.length;
}
