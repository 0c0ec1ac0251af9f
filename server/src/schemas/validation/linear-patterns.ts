/**
 * Regular expressions that match in linear time, whatever the pattern and the text.
 *
 * JavaScript's own engine takes exponential time for patterns such as `(a+)+$`. RE2 has no lookahead, lookbehind and
 * backreferences, which make that unavoidable.
 */
import { RE2JS } from 're2js';
import { quoteText } from '../../engine/values/convert-input.js';

/** Instructions of a compiled pattern. Matching takes time in proportion to them. */
const PROGRAM_SIZE_MAX = 20_000;

export interface LinearPattern {
  test(text: string): boolean;
  /** The compiler tells patterns apart by this text. */
  toString(): string;
}

/** @throws Error for a pattern that cannot be compiled */
export function linearPattern(pattern: string): LinearPattern {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(withShortClasses(pattern)));
  if (compiled.programSize() > PROGRAM_SIZE_MAX) throw new Error('the pattern is too long');
  return { test: (text) => compiled.test(text), toString: () => `pattern ${pattern}` };
}

/** Names of Unicode's categories for which RE2 has only the short form. */
const CATEGORIES: ReadonlyMap<string, string> = new Map([
  ['Letter', 'L'],
  ['Lowercase_Letter', 'Ll'],
  ['Uppercase_Letter', 'Lu'],
  ['Mark', 'M'],
  ['Number', 'N'],
  ['Decimal_Number', 'Nd'],
  ['Punctuation', 'P'],
  ['Symbol', 'S'],
  ['Separator', 'Z'],
]);

/** `\p{Letter}` as `\p{L}`, and `\p{Script=Greek}` as `\p{Greek}`. */
function withShortClasses(pattern: string): string {
  return pattern.replace(
    /\\[\\pP](?:\{(?:(?:Script|sc|General_Category|gc)=)?(\w+)\})?/g,
    (found: string, name: string | undefined) =>
      name === undefined ? found : `${found.slice(0, 2)}{${CATEGORIES.get(name) ?? name}}`,
  );
}

/** Why a pattern cannot be used, as a sentence; null if it can. */
export function patternProblem(pattern: string): string | null {
  try {
    linearPattern(pattern);
    return null;
  } catch (error) {
    return `The pattern ${quoteText(pattern)} cannot be used: ${reasonOf(error)}.`;
  }
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (/`\(\?(?:[=!]|<[=!])|named capture: `\(\?</.test(text)) {
    return 'lookahead and lookbehind are not supported';
  }
  if (/escape sequence: `\\[1-9k]/.test(text)) return 'backreferences are not supported';
  if (text.includes('repeat count')) {
    return 'a part can be repeated at most 1,000 times, nested repetitions multiplied; use maxLength for longer texts';
  }
  return text.replace(/^error parsing regexp: /, '').slice(0, 200);
}
