/** Searches for instances by a text: see store/text-search.ts. Apart from PostgreSQL, which has lateral joins and lists as values. */
import type { SQLInputValue } from 'node:sqlite';
import type { TermRange } from '../../index-terms.js';
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import { SEARCHED_NAMES_MAX } from '../../records/text-search.js';
import { encodeText } from '../../text-codec.js';
import {
  bestEntries,
  findingsOf,
  NAME_RANGES,
  soughtText,
  type SoughtText,
  type TextEntry,
} from '../../text-search.js';
import { SUMMARY_NAMES, summaryOf } from '../../sql/instances.js';
import type { Database } from '../database.js';

export function findInstancesByText(
  database: Database,
  [search]: OperationArguments<'findInstancesByText'>,
): OperationResult<'findInstancesByText'> {
  const sought = soughtText(search);
  const read = entriesOn(database, sought.entriesMax);
  const names = NAME_RANGES.map((range) => termNames(database, range));
  const searched = names.flatMap((some) => some.slice(0, SEARCHED_NAMES_MAX));
  const entries = [
    ...columnEntries(read, search.text, sought),
    ...searched.flatMap((name) => termEntries(read, name, sought)),
  ];
  const best = bestEntries(entries, search.limit);
  const found = best.ids.flatMap((id) => {
    const row = database.get(`SELECT ${SUMMARY_NAMES} FROM instances WHERE id = ?`, encodeText(id));
    return row === null ? [] : [summaryOf(row)];
  });
  return findingsOf(
    best,
    found,
    names.every(({ length }) => length <= SEARCHED_NAMES_MAX),
  );
}

type ReadEntries = (isEqual: boolean, query: string, ...values: SQLInputValue[]) => TextEntry[];

function entriesOn(database: Database, max: number): ReadEntries {
  return (isEqual, query, ...values) =>
    database
      .all(`${query} LIMIT ${max}`, ...values)
      .map((row) => ({ id: row.text('entryId'), time: row.number('entryTime'), isEqual }));
}

/** One more than a search looks at, if there are more. Each step is one look into the index, however many values a name has. */
function termNames(database: Database, { from, to }: TermRange): readonly string[] {
  const names: string[] = [];
  const next = 'SELECT name FROM terms WHERE name > ? AND name < ? ORDER BY name LIMIT 1';
  for (let last = from; names.length <= SEARCHED_NAMES_MAX;) {
    const row = database.get(next, last, to);
    if (row === null) break;
    last = row.text('name');
    names.push(last);
  }
  return names;
}

function columnEntries(read: ReadEntries, text: string, { textsFrom }: SoughtText): TextEntry[] {
  const { from, to } = textsFrom;
  const byId = 'SELECT id AS entryId, startTime AS entryTime FROM instances';
  const byReference = `${byId} INDEXED BY instances_reference`;
  const order = 'ORDER BY startTime DESC, id DESC';
  return [
    ...read(true, `${byId} WHERE id = ?`, encodeText(text)),
    ...read(false, `${byId} WHERE id > ? AND id < ? ORDER BY id DESC`, from, to),
    ...read(true, `${byReference} WHERE reference = ? ${order}`, encodeText(text)),
    ...read(
      false,
      `${byReference} WHERE reference > ? AND reference < ? ORDER BY reference`,
      from,
      to,
    ),
  ];
}

function termEntries(
  read: ReadEntries,
  name: string,
  { equalTerms, termsFrom }: SoughtText,
): TextEntry[] {
  const select = 'SELECT instanceId AS entryId, startTime AS entryTime FROM terms WHERE name = ?';
  const newest = 'ORDER BY startTime DESC, instanceId DESC';
  return [
    ...equalTerms.flatMap((value) => read(true, `${select} AND value = ? ${newest}`, name, value)),
    ...read(
      false,
      `${select} AND value > ? AND value < ? ORDER BY value`,
      name,
      termsFrom.from,
      termsFrom.to,
    ),
  ];
}
