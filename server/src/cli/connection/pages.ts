/** Reads paged API lists. */
import type { Query, ServerClient } from './server-client.js';

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

const PAGE_SIZE_MAX = 500;

/** Reads up to `limit` items, from as many pages as needed. The result has the shape of one page. */
export async function readPages<T>(
  client: ServerClient,
  path: string,
  { limit, ...query }: Query & { readonly limit: number },
): Promise<Page<T>> {
  const items: T[] = [];
  let cursor = query['cursor'];
  for (;;) {
    const size = Math.min(PAGE_SIZE_MAX, limit - items.length);
    const page = await client.get<Page<T>>(path, { ...query, limit: size, cursor });
    items.push(...page.items);
    const { nextCursor } = page;
    if (nextCursor === null || items.length >= limit) return { items, nextCursor };
    cursor = nextCursor;
  }
}
