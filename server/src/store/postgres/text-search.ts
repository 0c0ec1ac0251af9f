/**
 * Searches for instances by a text: see store/text-search.ts. Apart from SQLite, which reads one index entry after another: a
 * database server needs few statements, each with lists of names and values.
 */
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { SEARCHED_NAMES_MAX } from '../records/text-search.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import {
  bestEntries,
  findingsOf,
  NAME_RANGES,
  soughtText,
  type SoughtText,
  type TextEntry,
} from '../text-search.js';
import type { Database } from './database.js';
import { SUMMARY_NAMES } from './instance-rows.js';
import { summaryOf } from '../sql/instances.js';
import { withoutNul } from './notation.js';
import { Parameters } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';
import type { Row } from './row.js';

export async function findInstancesByText(
  { database }: PostgresContext,
  [search]: OperationArguments<'findInstancesByText'>,
): Promise<OperationResult<'findInstancesByText'>> {
  const sought = soughtText(search);
  const [byColumns, { entries: byTerms, hasAllNames }] = await Promise.all([
    columnEntries(database, search.text, sought),
    termEntries(database, sought),
  ]);
  const best = bestEntries([...byColumns, ...byTerms], search.limit);
  if (best.ids.length === 0) return findingsOf(best, [], hasAllNames);
  const rows = await database.query(
    `SELECT ${SUMMARY_NAMES} FROM @instances WHERE id = ANY($1::text[])`,
    [best.ids.map(encodeTextWithoutNul)],
  );
  return findingsOf(best, rows.map(summaryOf), hasAllNames);
}

async function columnEntries(
  database: Database,
  text: string,
  { entriesMax, textsFrom }: SoughtText,
): Promise<readonly TextEntry[]> {
  const parameters = new Parameters();
  const equal = `${parameters.add(encodeTextWithoutNul(text))}::text`;
  const from = `${parameters.add(withoutNul(textsFrom.from))}::text`;
  const to = `${parameters.add(withoutNul(textsFrom.to))}::text`;
  const limit = `LIMIT ${parameters.add(entriesMax)}::int`;
  const select = (isEqual: boolean): string =>
    `SELECT id, start_time, ${isEqual} AS is_equal FROM @instances`;
  const rows = await database.query(
    [
      `(${select(true)} WHERE id = ${equal})`,
      `(${select(false)} WHERE id > ${from} AND id < ${to} ORDER BY id DESC ${limit})`,
      `(${select(true)} WHERE reference = ${equal} ORDER BY start_time DESC, id DESC ${limit})`,
      `(${select(false)} WHERE reference > ${from} AND reference < ${to} ORDER BY reference ${limit})`,
    ].join('\nUNION ALL\n'),
    parameters.values,
  );
  return rows.map(entryOf);
}

async function termEntries(
  database: Database,
  sought: SoughtText,
): Promise<{ readonly entries: readonly TextEntry[]; readonly hasAllNames: boolean }> {
  const names = await Promise.all(NAME_RANGES.map(({ from, to }) => termNames(database, from, to)));
  const searched = names.flatMap((some) => some.slice(0, SEARCHED_NAMES_MAX));
  const hasAllNames = names.every(({ length }) => length <= SEARCHED_NAMES_MAX);
  if (searched.length === 0) return { entries: [], hasAllNames };
  const parameters = new Parameters();
  const name = parameters.add(searched);
  const equal = parameters.add(sought.equalTerms);
  const from = parameters.add(sought.termsFrom.from);
  const to = parameters.add(sought.termsFrom.to);
  const limit = parameters.add(sought.entriesMax);
  // A value at a time, so that the index has the newest first: an equal value may have a million entries.
  const rows = await database.query(
    `SELECT e.instance_id AS id, e.start_time, e.is_equal
  FROM unnest(${name}::text[]) AS n (name) CROSS JOIN LATERAL (
    SELECT q.instance_id, q.start_time, true AS is_equal
      FROM unnest(${equal}::text[]) AS v (value) CROSS JOIN LATERAL (
        SELECT t.instance_id, t.start_time FROM @terms AS t WHERE t.name = n.name AND t.value = v.value
         ORDER BY t.name DESC, t.value DESC, t.start_time DESC, t.instance_id DESC LIMIT ${limit}::int
      ) AS q
    UNION ALL
    (SELECT t.instance_id, t.start_time, false FROM @terms AS t
      WHERE t.name = n.name AND t.value > ${from}::text AND t.value < ${to}::text
      ORDER BY t.name, t.value LIMIT ${limit}::int)
  ) AS e`,
    parameters.values,
  );
  return { entries: rows.map(entryOf), hasAllNames };
}

/** One more than a search looks at, if there are more. Each step is one look into the index, however many values a name has. */
async function termNames(database: Database, from: string, to: string): Promise<readonly string[]> {
  const next = (after: string): string =>
    `SELECT t.name FROM @terms AS t WHERE t.name > ${after} AND t.name < $2::text ORDER BY t.name LIMIT 1`;
  const rows = await database.query(
    `WITH RECURSIVE names (name, place) AS (
  (SELECT first.name, 1 FROM (${next('$1::text')}) AS first)
  UNION ALL
  SELECT following.name, names.place + 1
    FROM names CROSS JOIN LATERAL (${next('names.name')}) AS following WHERE names.place <= $3::int
)
SELECT name FROM names ORDER BY place`,
    [from, to, SEARCHED_NAMES_MAX],
  );
  return rows.map((row) => row.text('name'));
}

function entryOf(row: Row): TextEntry {
  return {
    id: row.text('id'),
    time: row.number('start_time'),
    isEqual: row.boolean('is_equal'),
  };
}
