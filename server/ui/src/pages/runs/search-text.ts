/**
 * Reads the text of the search box: conditions, and words that are an id or a reference. A value or a name with spaces is
 * written in double quotes, in which a backslash precedes a quote or a backslash. Pure.
 */
import {
  beginsLikeOperator,
  conditionText,
  operatorAt,
  operatorProblem,
  quoted,
  TAG_PREFIX,
  type Condition,
  type Operator,
} from './conditions.js';

interface Span {
  readonly from: number;
  readonly to: number;
}

export type ConditionPart = Span & { readonly kind: 'condition'; readonly condition: Condition };
export type WordPart = Span & { readonly kind: 'word'; readonly text: string };
/** A part that cannot be read, and why. */
export type MalformedPart = Span & { readonly kind: 'malformed'; readonly message: string };
export type SearchPart = ConditionPart | WordPart | MalformedPart;

export function readSearch(text: string): SearchPart[] {
  const parts: SearchPart[] = [];
  let at = skipSpaces(text, 0);
  while (at < text.length) {
    const part = readPart(text, at);
    parts.push(part);
    at = skipSpaces(text, part.to);
  }
  return parts;
}

/** The conditions for the API. Malformed parts and words are omitted. */
export function conditionsIn(text: string): Condition[] {
  return readSearch(text)
    .filter((part) => part.kind === 'condition')
    .map(({ condition }) => condition);
}

/** The first part that isn't a condition; null if all are. */
export function misplacedIn(text: string): MalformedPart | null {
  for (const part of readSearch(text)) {
    if (part.kind === 'malformed') return part;
    if (part.kind === 'word') return malformed(part, `"${part.text}" has no operator, such as =.`);
  }
  return null;
}

/** The text of the search box for conditions, which reads as the same conditions again. */
export function searchText(conditions: readonly Condition[]): string {
  return conditions
    .map((condition) => {
      const { value, name, isQuoted } = condition;
      const needsQuotes =
        /\s/.test(value) || value === '' || value.startsWith('"') || beginsLikeOperator(value);
      const written = conditionText({ ...condition, isQuoted: isQuoted || needsQuotes });
      return nameText(name) + written.slice(name.length);
    })
    .join(' ');
}

/** The name of a field as written in the search box. */
export function nameText(name: string): string {
  return /[\s"]/.test(name) ? quoted(name) : name;
}

/** Reads a condition in the form of the API, in which spaces need no quotes. Null if it is malformed. */
export function readCondition(text: string): Condition | null {
  const at = indexOfOperator(text);
  const operator = operatorAt(text, Math.max(0, at));
  if (at < 1 || operator === undefined) return null;
  const value = text.slice(at + operator.length);
  const name = text.slice(0, at);
  if (!value.startsWith('"')) {
    return value === '' || beginsLikeOperator(value)
      ? null
      : { name, operator, value, isQuoted: false };
  }
  const end = readQuoted(value, 0);
  return end.isClosed && end.to === value.length
    ? { name, operator, value: end.text, isQuoted: true }
    : null;
}

function indexOfOperator(text: string): number {
  for (let at = 0; at < text.length; at += 1) {
    if (operatorAt(text, at) !== undefined) return at;
  }
  return -1;
}

function readPart(text: string, from: number): SearchPart {
  const name = readName(text, from);
  if (!name.isClosed) return malformed({ from, to: text.length }, UNCLOSED);
  const spaced = skipSpaces(text, name.to);
  const operator = operatorAt(text, spaced);
  if (operator === undefined) {
    return name.to < text.length && !isSpace(text, name.to)
      ? malformed({ from, to: endOfWord(text, name.to) }, AFTER_QUOTE)
      : { kind: 'word', from, to: name.to, text: name.text };
  }
  return readComparison(
    text,
    { from, name: name.text, operator, isSpaced: spaced > name.to },
    spaced,
  );
}

interface Beginning {
  readonly from: number;
  readonly name: string;
  readonly operator: Operator;
  /** With a space before the operator, one may follow it: `total >= 100`. */
  readonly isSpaced: boolean;
}

function readComparison(text: string, beginning: Beginning, operatorFrom: number): SearchPart {
  const { from, name, operator, isSpaced } = beginning;
  const afterOperator = operatorFrom + operator.length;
  const valueFrom = isSpaced ? skipSpaces(text, afterOperator) : afterOperator;
  if (text[valueFrom] === '"') {
    const value = readQuoted(text, valueFrom);
    if (!value.isClosed) return malformed({ from, to: text.length }, UNCLOSED);
    const end = endOfWord(text, value.to);
    if (end > value.to) return malformed({ from, to: end }, AFTER_QUOTE);
    return named({ from, to: value.to }, { name, operator, value: value.text, isQuoted: true });
  }
  const to = endOfWord(text, valueFrom);
  if (to === valueFrom) {
    const shown = `${name}${operator}`;
    return malformed(
      { from, to: Math.max(afterOperator, valueFrom) },
      `${shown} has no value. Write ${shown}"" for the empty text.`,
    );
  }
  const value = text.slice(valueFrom, to);
  const problem = operatorProblem(operator, value);
  if (problem !== null) return malformed({ from, to }, problem);
  return named({ from, to }, { name, operator, value, isQuoted: false });
}

const UNCLOSED = 'A double quote is not closed.';
const AFTER_QUOTE = 'Text follows a closing double quote. Separate it with a space.';

function named(span: Span, condition: Condition): SearchPart {
  const { name, operator, value } = condition;
  if (name === '' || name === TAG_PREFIX) {
    const what = name === '' ? 'a tag or an index field' : 'the tag';
    return malformed(span, `The name of ${what} is missing before ${operator}${value}.`);
  }
  if (indexOfOperator(name) !== -1) {
    return malformed(span, `The name ${name} contains an operator, so it cannot be searched.`);
  }
  return { kind: 'condition', ...span, condition };
}

function malformed({ from, to }: Span, message: string): MalformedPart {
  return { kind: 'malformed', from, to, message };
}

interface Read {
  readonly text: string;
  readonly to: number;
  /** False for an unclosed quote. */
  readonly isClosed: boolean;
}

function readName(text: string, from: number): Read {
  if (text[from] === '"') return readQuoted(text, from);
  let to = from;
  while (to < text.length && !isSpace(text, to) && operatorAt(text, to) === undefined) to += 1;
  return { text: text.slice(from, to), to, isClosed: true };
}

function readQuoted(text: string, from: number): Read {
  let read = '';
  for (let at = from + 1; at < text.length; at += 1) {
    const letter = text[at] ?? '';
    if (letter === '"') return { text: read, to: at + 1, isClosed: true };
    const next = text[at + 1];
    if (letter === '\\' && (next === '"' || next === '\\')) {
      read += next;
      at += 1;
    } else read += letter;
  }
  return { text: read, to: text.length, isClosed: false };
}

function endOfWord(text: string, from: number): number {
  let to = from;
  while (to < text.length && !isSpace(text, to)) to += 1;
  return to;
}

function skipSpaces(text: string, from: number): number {
  let to = from;
  while (to < text.length && isSpace(text, to)) to += 1;
  return to;
}

function isSpace(text: string, at: number): boolean {
  return /\s/.test(text[at] ?? '');
}
