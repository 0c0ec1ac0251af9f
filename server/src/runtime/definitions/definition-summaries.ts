/**
 * Lists definitions without their bodies. A body may have a megabyte, so only a few are read at a time, and a page fits into
 * memory.
 */
import { allowsName, type AllowedNames } from '../../base/allowed-names.js';
import { originOf } from '../../store/definition-origin.js';
import type { DefinitionVersion, StoredDefinition } from '../../store/records/definitions.js';
import type { Store } from '../../store/store.js';
import { compareText } from '../../store/text-order.js';

/** A definition may have up to a megabyte. */
export const DEFINITIONS_AT_ONCE = 20;

export interface ListRequest {
  readonly after: string | null;
  readonly limit: number;
  /** If it has prefixes, the definitions between the first and the last prefix are read. */
  readonly allowed: AllowedNames;
}

/** In order of id. */
export async function listSummaries(
  store: Pick<Store, 'listDefinitions'>,
  { after, limit, allowed }: ListRequest,
): Promise<readonly DefinitionVersion[]> {
  const found: DefinitionVersion[] = [];
  const { last, start } = rangeOf(allowed);
  let read = after !== null && compareText(after, start) > 0 ? after : start;
  while (last !== null && found.length < limit) {
    const part = await store.listDefinitions(read === '' ? null : read, DEFINITIONS_AT_ONCE);
    found.push(...part.filter(({ id }) => allowsName(allowed, id)).map(summaryOf));
    const end = part.at(-1)?.id;
    if (end === undefined || part.length < DEFINITIONS_AT_ONCE) break;
    if (!end.startsWith(last) && compareText(end, last) > 0) break;
    read = end;
  }
  return found.slice(0, limit);
}

export function summaryOf(record: StoredDefinition): DefinitionVersion {
  const { id, version, description, createdAt, disabled, body } = record;
  return { id, version, description, createdAt, disabled, origin: originOf(body) };
}

/** The start of the range, and its last prefix; null if there is nothing to read. */
function rangeOf(allowed: AllowedNames): { readonly start: string; readonly last: string | null } {
  if (allowed === 'all') return { start: '', last: '' };
  const ordered = allowed.toSorted(compareText);
  // All texts with this prefix sort after the prefix without its last character.
  return { start: ordered.at(0)?.slice(0, -1) ?? '', last: ordered.at(-1) ?? null };
}
