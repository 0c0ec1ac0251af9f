/** Conditions on tags and index fields, as the API takes them: `total>=100`, `tag.env=prod`. Pure. */
import type { WorkflowSummary } from '@stepwright/sdk';

export const OPERATORS = ['=', '!=', '<', '<=', '>', '>=', '^='] as const;
export type Operator = (typeof OPERATORS)[number];

export interface Condition {
  /** An index field, or `tag.` and the name of a tag. */
  readonly name: string;
  readonly operator: Operator;
  readonly value: string;
  /** In double quotes, a value is text even if it reads as a number, `true` or `false`. */
  readonly isQuoted: boolean;
}

export const TAG_PREFIX = 'tag.';

/** Longer operators first, because others are their beginning. */
const LONGEST_FIRST = OPERATORS.toSorted((a, b) => b.length - a.length);

/** The operator at this place of a text. */
export function operatorAt(text: string, at: number): Operator | undefined {
  return LONGEST_FIRST.find((operator) => text.startsWith(operator, at));
}

/** Operator spellings from other languages, as on the server. */
const MISTAKEN: ReadonlyMap<string, Operator> = new Map([
  ['=>', '>='],
  ['=<', '<='],
  ['==', '='],
  ['===', '='],
  ['<>', '!='],
  ['!==', '!='],
]);

/** Whether a value must be quoted, because it begins like an operator. */
export function beginsLikeOperator(value: string): boolean {
  return /^[<>=]/.test(value);
}

/** Why the server rejects an unquoted value; null if it doesn't. */
export function operatorProblem(operator: Operator, value: string): string | null {
  const [more] = /^[<>=]+/.exec(value) ?? [];
  if (more === undefined) return null;
  const written = operator + more;
  const meant = MISTAKEN.get(written);
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  return `${written.slice(0, 10)} isn't an operator.${hint} Write a value that begins with ${value.charAt(0)} in double quotes.`;
}

/** The condition as the API takes it. */
export function conditionText({ name, operator, value, isQuoted }: Condition): string {
  return `${name}${operator}${isQuoted ? quoted(value) : value}`;
}

export function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** The condition that finds this value. */
export function equals(name: string, value: string | number | bigint | boolean): Condition {
  const isText = typeof value === 'string';
  return { name, operator: '=', value: String(value), isQuoted: isText && readsAsOther(value) };
}

type IndexValue = string | number | bigint | boolean;
export type Searchable = Pick<WorkflowSummary, 'tags' | 'index'>;

/** The values of a run under a name: several if the index field is a list. */
export function valuesOf(run: Searchable, name: string): readonly IndexValue[] {
  if (name.startsWith(TAG_PREFIX)) {
    const tag = name.slice(TAG_PREFIX.length);
    const value = Object.hasOwn(run.tags, tag) ? run.tags[tag] : undefined;
    return value === undefined ? [] : [value];
  }
  const value: unknown = Object.hasOwn(run.index, name) ? run.index[name] : undefined;
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter(isIndexValue);
}

function isIndexValue(value: unknown): value is IndexValue {
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
}

/** Whether a run matches the condition, by the same rules as on the server. */
export function fulfills(run: Searchable, condition: Condition): boolean {
  const { operator } = condition;
  const elements = valuesOf(run, condition.name);
  const values = readings(condition);
  const some = (test: (element: IndexValue, value: IndexValue) => boolean): boolean =>
    elements.some((element) => values.some((value) => test(element, value)));
  switch (operator) {
    case '=':
      return some(isEqual);
    case '!=':
      return elements.length > 0 && !some(isEqual);
    case '^=':
      return elements.some(
        (element) => typeof element === 'string' && element.startsWith(condition.value),
      );
    case '<':
      return some((element, value) => (compare(element, value) ?? 0) < 0);
    case '<=':
      return some((element, value) => (compare(element, value) ?? 1) <= 0);
    case '>':
      return some((element, value) => (compare(element, value) ?? 0) > 0);
    case '>=':
      return some((element, value) => (compare(element, value) ?? -1) >= 0);
  }
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
const INTEGER = /^-?\d+$/;

function readsAsOther(text: string): boolean {
  return text === '' || text === 'true' || text === 'false' || NUMBER.test(text) || /^"/.test(text);
}

/** The possible values: text, and the number or boolean that it reads as. */
function readings({ value, isQuoted }: Condition): readonly IndexValue[] {
  if (isQuoted) return [value];
  if (value === 'true' || value === 'false') return [value, value === 'true'];
  if (INTEGER.test(value) && NUMBER.test(value)) return [value, BigInt(value)];
  return NUMBER.test(value) ? [value, Number(value)] : [value];
}

function isNumber(value: IndexValue): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function isEqual(a: IndexValue, b: IndexValue): boolean {
  return a === b || compare(a, b) === 0;
}

/** Null if the values have no order: only numbers with numbers, and text with text. */
function compare(a: IndexValue, b: IndexValue): number | null {
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (typeof a === 'boolean' && a === b) return 0;
  return null;
}

/** By code point, as the server does; JavaScript's `<` compares UTF-16 units. */
function compareText(a: string, b: string): number {
  const others = b[Symbol.iterator]();
  for (const letter of a) {
    const other = others.next();
    if (other.done === true) return 1;
    const order = (letter.codePointAt(0) ?? 0) - (other.value.codePointAt(0) ?? 0);
    if (order !== 0) return order;
  }
  return others.next().done === true ? 0 : -1;
}
