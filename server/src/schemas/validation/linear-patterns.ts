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
  const compiled = RE2JS.compile(RE2JS.translateRegExp(translated(pattern)));
  if (compiled.programSize() > PROGRAM_SIZE_MAX) throw new Error('the pattern is too long');
  return { test: (text) => compiled.test(text), toString: () => `pattern ${pattern}` };
}

/** Names of Unicode's categories for which RE2 has only the short form. */
const CATEGORIES: ReadonlyMap<string, string> = new Map(
  [
    'Letter L, Cased_Letter LC, Uppercase_Letter Lu, Lowercase_Letter Ll, Titlecase_Letter Lt, Modifier_Letter Lm',
    'Other_Letter Lo, Mark M, Combining_Mark M, Nonspacing_Mark Mn, Spacing_Mark Mc, Enclosing_Mark Me, Number N',
    'Decimal_Number Nd, digit Nd, Letter_Number Nl, Other_Number No, Punctuation P, punct P, Connector_Punctuation Pc',
    'Dash_Punctuation Pd, Open_Punctuation Ps, Close_Punctuation Pe, Initial_Punctuation Pi, Final_Punctuation Pf',
    'Other_Punctuation Po, Symbol S, Math_Symbol Sm, Currency_Symbol Sc, Modifier_Symbol Sk, Other_Symbol So',
    'Separator Z, Space_Separator Zs, Line_Separator Zl, Paragraph_Separator Zp, Other C, Control Cc, cntrl Cc',
    'Format Cf, Surrogate Cs, Private_Use Co',
  ]
    .join(', ')
    .split(', ')
    .map((pair) => pair.split(' ') as [string, string]),
);

/** What JavaScript takes for white space, inside a class, and everything else. RE2 knows that of ASCII only. */
const SPACES =
  '\\t-\\r \\xa0\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const OTHERS =
  '\\x00-\\x08\\x0e-\\x1f!-\\x9f\\xa1-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}' +
  '\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';
const ANY = '[^\\n\\r\\x{2028}\\x{2029}]';

/** An escape sequence, with the whole of a category or a pair of surrogates, or any other character. */
const TOKEN =
  /\\(?:[pP]\{(?:(?:Script|sc|General_Category|gc)=)?\w+\}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|[^])|[^\\]/gu;

/** The pattern with what RE2 reads differently from JavaScript written out. */
function translated(pattern: string): string {
  let isInClass = false;
  return pattern.replace(TOKEN, (token) => {
    if (token.startsWith('\\')) return translatedEscape(token, isInClass);
    if (isInClass) {
      isInClass = token !== ']';
      // RE2 would read `[:alpha:]` as a class within the class.
      return token === '[' ? '\\[' : token;
    }
    isInClass = token === '[';
    return token === '.' ? ANY : token;
  });
}

function translatedEscape(escape: string, isInClass: boolean): string {
  switch (escape.charAt(1)) {
    case 's':
      return isInClass ? SPACES : `[${SPACES}]`;
    case 'S':
      return isInClass ? OTHERS : `[${OTHERS}]`;
    case 'b':
      return isInClass ? '\\x08' : escape;
    case 'u':
      return escape.length > 2 ? String.fromCharCode(...unitsOf(escape)) : escape;
    case 'p':
    case 'P': {
      const name = /(?<!\w)(\w+)\}$/.exec(escape)?.[1];
      if (name === undefined) return escape;
      // `\p{Letter}` as `\p{L}`, and `\p{Script=Greek}` as `\p{Greek}`.
      return `${escape.slice(0, 2)}{${CATEGORIES.get(name) ?? name}}`;
    }
    default:
      return escape;
  }
}

function unitsOf(pair: string): readonly number[] {
  return [pair.slice(2, 6), pair.slice(8)].map((unit) => Number.parseInt(unit, 16));
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
