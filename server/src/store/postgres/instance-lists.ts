/**
 * Lists of instances on PostgreSQL: see sql/instance-lists.ts.
 *
 * The planner chooses the index by the values, so a path along the instances applies all conditions that some index serves.
 */
import { COUNTED_AT_ONCE_MAX } from '../search-plan.js';
import {
  joined,
  otherConditions,
  servedConditions,
  sql,
  whereOf,
  type Sql,
} from '../sql/conditions.js';
import * as lists from '../sql/instance-lists.js';
import { entryOrder, inRange, type ListDialect } from '../sql/list-paths.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { CHANGE_SPAN_MS } from './instance-rows.js';
import type { PostgresContext } from './postgres-context.js';
import { runSteps } from './shared-operations.js';

const LIST_DIALECT: ListDialect = {
  served: servedConditions,
  unserved: otherConditions,
  index: () => null,
  changeSpanMs: CHANGE_SPAN_MS,
  apart: ({ text, values }) => ({ text: `SELECT * FROM (${text} OFFSET 0) AS ended`, values }),
  // Each part reads only as many entries as are wanted.
  union(parts, filter, range) {
    const { limit, offset = 0 } = range;
    const first = inRange(entryOrder(filter), { limit: limit + offset });
    const limited = parts.map((part) => within('(', joined([part, first]), ')'));
    const united = within('SELECT * FROM (', joined(limited, ' UNION '), ') AS found');
    return joined([united, inRange(entryOrder(filter), range)]);
  },
  isAmong: (ids) => within('id = ANY(ARRAY(', ids, '))'),
  instancesOf: (entries, { columns }, selected) =>
    joined([
      within(`SELECT ${selected} FROM (`, entries, ') AS entry JOIN @instances ON id = entryId'),
      whereOf(columns),
    ]),
  ordered: (instances, filter, limit) =>
    joined([
      instances,
      limit === null ? sql(entryOrder(filter)) : inRange(entryOrder(filter), { limit }),
    ]),
  countedAtOnceMax: COUNTED_AT_ONCE_MAX,
};

export function listInstances(
  { database }: PostgresContext,
  args: OperationArguments<'listInstances'>,
): Promise<OperationResult<'listInstances'>> {
  return runSteps(database, lists.listInstances(LIST_DIALECT, args));
}

export function countInstances(
  { database }: PostgresContext,
  args: OperationArguments<'countInstances'>,
): Promise<OperationResult<'countInstances'>> {
  return runSteps(database, lists.countInstances(LIST_DIALECT, args));
}

function within(before: string, { text, values }: Sql, after: string): Sql {
  return { text: `${before}${text}${after}`, values };
}
