/**
 * Finds syntax of other languages or template engines in expressions, such as `data.a && !data.b` or `{{ data.x }}`, and its
 * Python equivalent. It reads only the text: the caller decides whether it is a mistake.
 */
import { quoteText } from '../../values/convert-input.js';
import { rewriteConditionals } from './conditional-operator.js';
import { FOREIGN_RULES, type ForeignRule } from './foreign-rules.js';
import { MASK, maskLiterals, replaceInCode } from './masked-code.js';
import { replaceTemplates } from './templates.js';

export interface ForeignSyntax {
  /** The Python equivalents, as sentences. */
  readonly hint: string;
  /** The whole expression in Python, if every match has a replacement; it may still be wrong. */
  readonly python: string | null;
}

/** Longer expressions aren't checked: each rule reads the whole text, and authors write long code in Python. */
const LENGTH_MAX = 1000;
const HINTS_MAX = 4;

/** Null if there is nothing foreign. */
export function findForeignSyntax(source: string): ForeignSyntax | null {
  if (source.length > LENGTH_MAX || source.includes(MASK)) return null;
  const template = replaceTemplates(source.trim());
  const found: FoundRules = {
    hints: [],
    python: template === null ? source.trim() : template.python,
  };
  if (template === null && found.python !== null) stripEquals(found);
  for (const rule of FOREIGN_RULES) applyRule(rule, found);
  if (found.python !== null) found.python = rewriteQuestions(found.python, found.hints);
  const sentences = [];
  if (template !== null) sentences.push(`${template.hint}.`);
  const hints = [...new Set(found.hints)].slice(0, HINTS_MAX);
  if (hints.length > 0) sentences.push(`In Python, ${hints.join('; ')}.`);
  return sentences.length === 0 ? null : { hint: sentences.join(' '), python: found.python };
}

/** The hint, followed by the suggested text if that is valid Python. */
export function foreignHint(
  { hint, python }: ForeignSyntax,
  isPython: (source: string) => boolean,
): { readonly message: string; readonly suggestion: string | null } {
  const suggestion = python !== null && isPython(python) ? python : null;
  const message = suggestion === null ? hint : `${hint} Write ${quoteText(suggestion)}.`;
  return { message, suggestion };
}

interface FoundRules {
  readonly hints: string[];
  /** Null once a match has no replacement. */
  python: string | null;
}

/** `=data.x`, as spreadsheets and some workflow systems begin a formula. */
function stripEquals(found: FoundRules): void {
  if (found.python === null || !/^=(?![=<>])/.test(found.python)) return;
  found.hints.push('an expression has no "=" before it');
  found.python = found.python.slice(1).trim();
}

function applyRule({ hint, pattern, python }: ForeignRule, found: FoundRules): void {
  const text = found.python;
  if (text === null) return;
  const [first] = maskLiterals(text).matchAll(pattern);
  if (first === undefined) return;
  found.hints.push(hint(first));
  // Words in place of signs, such as `and` for `&&`, bring spaces of their own.
  const rewritten = python === null ? null : replaceInCode(text, pattern, python);
  found.python = rewritten === null ? null : replaceInCode(rewritten, / {2,}/g, () => ' ').trim();
}

function rewriteQuestions(text: string, hints: string[]): string {
  if (!maskLiterals(text).includes('?')) return text;
  const rewritten = rewriteConditionals(text);
  if (rewritten !== text) hints.push('"a ? b : c" is written "b if a else c"');
  return rewritten;
}
