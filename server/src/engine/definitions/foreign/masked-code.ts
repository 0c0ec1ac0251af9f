/** The code of a Python expression without the content of its string literals and comments, at unchanged positions. */

/** An unclosed literal ends with its line, so that the time is linear in the length. */
const LITERAL =
  /(?<prefix>[A-Za-z]{0,2})(?<content>'''[\s\S]*?'''|"""[\s\S]*?"""|'(?:[^'\\\n]|\\.)*'?|"(?:[^"\\\n]|\\.)*"?)|#[^\n]*/g;

export interface StringLiteral {
  readonly from: number;
  readonly to: number;
  /** With its quotes, without its prefix. */
  readonly text: string;
  readonly isFormatted: boolean;
}

/** Stands for each character of a literal: neither a word nor an operator. */
export const MASK = '\u0000';

export function maskLiterals(source: string): string {
  return source.replaceAll(LITERAL, (literal) => MASK.repeat(literal.length));
}

export function stringLiteralsIn(source: string): readonly StringLiteral[] {
  const found: StringLiteral[] = [];
  for (const match of source.matchAll(LITERAL)) {
    const { content, prefix = '' } = match.groups ?? {};
    if (content === undefined) continue;
    const from = match.index;
    const to = from + match[0].length;
    found.push({ from, to, text: content, isFormatted: /f/i.test(prefix) });
  }
  return found;
}

/** Replaces matches in the code only. The pattern is global, and sees literals as masks. */
export function replaceInCode(
  source: string,
  pattern: RegExp,
  replacement: (match: RegExpExecArray) => string,
): string {
  let result = '';
  let at = 0;
  for (const match of maskLiterals(source).matchAll(pattern)) {
    result += source.slice(at, match.index) + replacement(match);
    at = match.index + match[0].length;
  }
  return result + source.slice(at);
}
