/** The search box's suggestions at the caret: names, then operators, then values. Pure. */
import type { WorkflowSummary } from '@stepwright/sdk';
import {
  equals,
  operatorAt,
  OPERATORS,
  TAG_PREFIX,
  valuesOf,
  type Operator,
} from './conditions.js';
import { nameText, searchText } from './search-text.js';

/** The searchable names, each with some of its values. */
export type KnownFields = ReadonlyMap<string, ReadonlySet<string | number | bigint | boolean>>;

export interface Suggestion {
  /** The text of the suggestion. */
  readonly label: string;
  /** A short description. */
  readonly detail: string;
  /** Replaces the part of the text from `from` to `to`. */
  readonly insert: string;
}

export interface Suggestions {
  readonly from: number;
  readonly to: number;
  readonly items: readonly Suggestion[];
}

const SHOWN_MAX = 12;
const VALUES_MAX = 50;

const OPERATOR_WORDS: Readonly<Record<Operator, string>> = {
  '=': 'is',
  '!=': 'is not',
  '<': 'is less than',
  '<=': 'is at most',
  '>': 'is more than',
  '>=': 'is at least',
  '^=': 'starts with',
};

/** The index fields and tags of a definition, and of the runs on the page. */
export function knownFields(
  definition: {
    readonly index?: Readonly<Record<string, unknown>> | null;
    readonly tags?: Readonly<Record<string, string>> | null;
  },
  runs: readonly Pick<WorkflowSummary, 'tags' | 'index'>[],
): KnownFields {
  const fields = new Map<string, Set<string | number | bigint | boolean>>();
  const add = (name: string): Set<string | number | bigint | boolean> => {
    const values = fields.get(name) ?? new Set();
    fields.set(name, values);
    return values;
  };
  for (const name of Object.keys(definition.index ?? {})) add(name);
  for (const [tag, value] of Object.entries(definition.tags ?? {})) {
    add(TAG_PREFIX + tag).add(value);
  }
  for (const run of runs) {
    const tags = Object.keys(run.tags).map((tag) => TAG_PREFIX + tag);
    for (const name of [...Object.keys(run.index), ...tags]) {
      const values = add(name);
      valuesOf(run, name)
        .slice(0, VALUES_MAX - values.size)
        .forEach((value) => values.add(value));
    }
  }
  return fields;
}

export function suggest(text: string, caret: number, fields: KnownFields): Suggestions {
  const from = startOfPart(text, caret);
  const rest = /^\S*/.exec(text.slice(caret))?.[0] ?? '';
  const part = text.slice(from, caret);
  const items = itemsFor(part, fields).slice(0, SHOWN_MAX);
  return { from, to: caret + rest.length, items };
}

/** The start of the part at the caret: spaces in double quotes do not separate parts. */
function startOfPart(text: string, caret: number): number {
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < caret; at += 1) {
    const letter = text[at] ?? '';
    if (letter === '\\' && isQuoted) at += 1;
    else if (letter === '"') isQuoted = !isQuoted;
    else if (!isQuoted && /\s/.test(letter)) start = at + 1;
  }
  return start;
}

function itemsFor(part: string, fields: KnownFields): Suggestion[] {
  const known = [...fields].find(([name]) => {
    const written = nameText(name);
    return part.startsWith(written) && operatorAt(part, written.length) !== undefined;
  });
  if (known !== undefined) return valueItems(part, known[0], known[1]);
  const exact = [...fields.keys()].find((name) => nameText(name) === part);
  if (exact !== undefined) return operatorItems(exact);
  return nameItems(part, [...fields.keys()]);
}

function nameItems(part: string, names: readonly string[]): Suggestion[] {
  const wanted = part.replace(/^"/, '').toLowerCase();
  const begins = (name: string): boolean => name.toLowerCase().startsWith(wanted);
  const rank = (name: string): number => (begins(name) ? 0 : 1);
  return names
    .filter((name) => name.toLowerCase().includes(wanted))
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map((name) => ({
      label: name,
      detail: name.startsWith(TAG_PREFIX) ? 'tag' : 'index field',
      insert: nameText(name),
    }));
}

function operatorItems(name: string): Suggestion[] {
  return OPERATORS.map((operator) => ({
    label: `${name}${operator}`,
    detail: OPERATOR_WORDS[operator],
    insert: `${nameText(name)}${operator}`,
  }));
}

function valueItems(
  part: string,
  name: string,
  values: ReadonlySet<string | number | bigint | boolean>,
): Suggestion[] {
  const length = nameText(name).length;
  const operator = operatorAt(part, length) ?? '=';
  const begun = part
    .slice(length + operator.length)
    .replace(/^"/, '')
    .toLowerCase();
  return [...values]
    .filter((value) => String(value).toLowerCase().startsWith(begun))
    .map((value) => ({
      label: `${name}${operator}${String(value)}`,
      detail:
        typeof value === 'string' ? 'text' : typeof value === 'boolean' ? 'boolean' : 'number',
      insert: `${searchText([{ ...equals(name, value), operator }])} `,
    }));
}
