/**
 * Query parameters in any casing, `?Timeout=5` for one, as the service that this one follows takes them. What no call
 * knows is left as it is, and nobody reads it.
 */
import { parse, type ParsedUrlQuery } from 'node:querystring';

/** Every parameter of every call; a test holds them to the OpenAPI document. */
export const QUERY_NAMES: readonly string[] = [
  'cursor',
  'definitionId',
  'failedFrom',
  'key',
  'lease',
  'limit',
  'name',
  'order',
  'reference',
  'startedFrom',
  'startedTo',
  'status',
  'stepId',
  'timeout',
  'unchangedSince',
  'version',
  'wait',
  'workerId',
  'workflowId',
];

const NAME_BY_LOWER_CASE = new Map(QUERY_NAMES.map((name) => [name.toLowerCase(), name]));

/** A name in two spellings is a name that is given twice: its values come as a list. */
export function parseQuery(text: string | null | undefined): ParsedUrlQuery {
  const query = new Map<string, string | string[]>();
  for (const [name, value] of Object.entries(parse(text ?? ''))) {
    if (value === undefined) continue;
    const known = NAME_BY_LOWER_CASE.get(name.toLowerCase()) ?? name;
    const before = query.get(known);
    query.set(known, before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(query);
}
