/**
 * Lists of instances on SQLite: see sql/instance-lists.ts.
 *
 * SQLite has no statistics to choose an index by, so each statement names one. A path along the instances applies only the
 * conditions that its index serves: so the number of entries bounds the number of rows that are read.
 */
import type { InstanceFilter } from '../../records/instance-lists.js';
import {
  comparison,
  failureCondition,
  IS_NO_SUCCESS,
  IS_QUEUED,
  IS_ROOT,
  joined,
  otherConditions,
  servedConditions,
  startConditions,
  timeConditions,
  whereOf,
  type Sql,
} from '../../sql/conditions.js';
import * as lists from '../../sql/instance-lists.js';
import { SUMMARY_NAMES } from '../../sql/instances.js';
import { entryOrder, inRange, type InstanceWalk, type ListDialect } from '../../sql/list-paths.js';
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import type { Database } from '../database.js';
import { runSteps } from '../shared-operations.js';

export const LIST_DIALECT: ListDialect = {
  served: (filter) => indexedConditions(filter, indexOf(filter)),
  unserved(filter) {
    const served = new Set(indexedConditions(filter, indexOf(filter)).map(keyOf));
    const all = [...servedConditions(filter), ...otherConditions(filter)];
    return all.filter((condition) => !served.has(keyOf(condition)));
  },
  index: indexOf,
  changeSpanMs: null,
  apart: (entries) => entries,
  union: (parts, filter, range) =>
    joined([joined(parts, ' UNION '), inRange(entryOrder(filter), range)]),
  isAmong: ({ text, values }) => ({ text: `id IN (${text})`, values }),
  instancesOf,
  // The join keeps it.
  ordered: (instances) => instances,
  // No search keeps its thread for long.
  countedAtOnceMax: 0,
};

export function listInstances(
  database: Database,
  args: OperationArguments<'listInstances'>,
): OperationResult<'listInstances'> {
  return runSteps(database, lists.listInstances(LIST_DIALECT, args));
}

export function countInstances(
  database: Database,
  args: OperationArguments<'countInstances'>,
): OperationResult<'countInstances'> {
  return runSteps(database, lists.countInstances(LIST_DIALECT, args));
}

function instancesOf(
  { text, values }: Sql,
  { columns, isDirect }: InstanceWalk,
  selected: string,
): Sql {
  // The rows of a path along the instances are at hand; without the state, which may be long.
  const entries = isDirect ? text.replace(' AS entryId ', ` AS entryId, ${SUMMARY_NAMES} `) : text;
  const join = isDirect ? ')' : ') CROSS JOIN @instances ON instances.id = entryId';
  return joined([{ text: `SELECT ${selected} FROM (${entries}${join}`, values }, whereOf(columns)]);
}

function keyOf({ text, values }: Sql): string {
  return JSON.stringify([text, values]);
}

function indexOf(filter: InstanceFilter): string {
  if (filter.failedFrom !== undefined) return 'instances_failed';
  return filter.unchangedSince === undefined ? startIndexOf(filter) : 'instances_unchanged';
}

/** The most selective index in the order of starts. */
function startIndexOf({ failure, reference, parentId, queued, ...filter }: InstanceFilter): string {
  const { definitionId, outcome } = filter;
  const status = outcome === 'Succeeded' ? 'Complete' : filter.status;
  if (queued === true) return 'instances_queued';
  if (reference !== undefined) return 'instances_reference';
  if (typeof parentId === 'string') return 'instances_parent';
  if (failure !== undefined) return 'instances_failure';
  // Few instances end with any other outcome, so this index selects the fewest.
  if (outcome !== undefined && outcome !== 'Succeeded') return 'instances_outcome';
  if (definitionId !== undefined) {
    return status === undefined ? 'instances_definition' : 'instances_definition_status';
  }
  if (status !== undefined) return 'instances_status';
  return parentId === null ? 'instances_roots' : 'instances_started';
}

/** The conditions that the index serves without reading a row. */
function indexedConditions(filter: InstanceFilter, index: string): readonly Sql[] {
  const { definitionId, failure, outcome, parentId, reference } = filter;
  const started = startConditions(filter);
  const definition = comparison('definitionId = ?', definitionId);
  const status = comparison('status = ?', outcome === 'Succeeded' ? 'Complete' : filter.status);
  switch (index) {
    case 'instances_queued':
      return [IS_QUEUED, ...started];
    case 'instances_reference':
      return [...comparison('reference = ?', reference), ...started];
    case 'instances_parent':
      return [...comparison('parentId = ?', parentId ?? undefined), ...started];
    case 'instances_failure':
      return [...failureCondition(failure), ...started];
    case 'instances_outcome':
      return [...comparison('outcome = ?', outcome), IS_NO_SUCCESS, ...started];
    case 'instances_definition':
      return [...definition, ...started];
    case 'instances_definition_status':
      return [...definition, ...status, ...started];
    case 'instances_status':
      return [...status, ...started];
    case 'instances_roots':
      return [IS_ROOT, ...started];
    case 'instances_started':
      return started;
    default:
      // The time that determines the order.
      return timeConditions(timeOf(filter));
  }
}

function timeOf({ failedFrom, unchangedSince }: InstanceFilter): InstanceFilter {
  return {
    ...(failedFrom !== undefined && { failedFrom }),
    ...(unchangedSince !== undefined && { unchangedSince }),
  };
}
