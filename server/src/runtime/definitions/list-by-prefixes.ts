/** Lists the definitions whose ids begin with one of some prefixes. */
import { reaches } from '../../base/name-reach.js';
import type { StoredDefinition } from '../../store/records/definitions.js';
import type { Store } from '../../store/store.js';
import { compareText } from '../../store/text-order.js';

const READ_AT_ONCE = 200;

export interface ListByPrefixes {
  readonly after: string | null;
  readonly limit: number;
  readonly prefixes: readonly string[];
}

/** In the order of their ids. Reads the definitions from the first prefix to the last. */
export async function listByPrefixes(
  store: Pick<Store, 'listDefinitions'>,
  { after, limit, prefixes }: ListByPrefixes,
): Promise<readonly StoredDefinition[]> {
  const found: StoredDefinition[] = [];
  const ordered = prefixes.toSorted(compareText);
  const [first, last] = [ordered.at(0), ordered.at(-1)];
  if (first === undefined || last === undefined) return found;
  // All texts that begin with the prefix follow what it is without its last character.
  const start = first.slice(0, -1);
  let read = after !== null && compareText(after, start) > 0 ? after : start;
  for (;;) {
    const part = await store.listDefinitions(read === '' ? null : read, READ_AT_ONCE);
    found.push(...part.filter(({ id }) => reaches(prefixes, id)));
    const end = part.at(-1)?.id;
    const isLast = end === undefined || part.length < READ_AT_ONCE;
    if (isLast || found.length >= limit) return found.slice(0, limit);
    if (!end.startsWith(last) && compareText(end, last) > 0) return found;
    read = end;
  }
}
