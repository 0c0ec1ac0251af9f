/** Detects dashed field names: Python reads `data.order-number` as a subtraction. */
import type { ForeignSyntax } from './foreign-syntax.js';
import { maskLiterals } from './masked-code.js';

const DASHED = /(?<=[\w\]])\.(?<field>[A-Za-z_]\w{0,80}(?:-[A-Za-z_]\w{0,80}){1,10})(?![\w(.[-])/g;

/** Built-in functions that are common as the last word of a name. Python can't subtract a function. */
const FUNCTIONS: ReadonlySet<string> = new Set(
  'date filter format hash id input len list map max min object range set sum time type'.split(' '),
);

export function findDashedField(
  source: string,
  unknownNames: readonly string[],
): ForeignSyntax | null {
  for (const match of maskLiterals(source).matchAll(DASHED)) {
    const field = match.groups?.['field'] ?? '';
    const [, ...others] = field.split('-');
    if (!others.some((name) => unknownNames.includes(name) || FUNCTIONS.has(name))) continue;
    const read = `["${field}"]`;
    const end = match.index + match[0].length;
    return {
      hint: `Python reads "-" as minus; the field ${JSON.stringify(field)} is read with ${JSON.stringify(read)}.`,
      python: source.slice(0, match.index) + read + source.slice(end),
    };
  }
  return null;
}
