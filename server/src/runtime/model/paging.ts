/** Cursors: opaque to clients, and valid only for the list that returned them. */
import { AppError } from '../../base/errors.js';

export function encodeCursor(list: string, position: readonly string[]): string {
  return Buffer.from(JSON.stringify([list, ...position])).toString('base64url');
}

/** The position after which a page starts; null for the first page. @throws AppError `invalid_request` */
export function decodeCursor(cursor: string | null, list: string): readonly string[] | null {
  if (cursor === null) return null;
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (
      Array.isArray(value) &&
      value[0] === list &&
      value.every((part) => typeof part === 'string')
    ) {
      return value.slice(1);
    }
  } catch {
    // Falls through to the error below.
  }
  throw new AppError(
    'invalid_request',
    'The cursor is invalid: pass the cursor of an earlier page of this list unchanged',
    {
      parameter: 'cursor',
    },
  );
}

/**
 * Builds a page from a list with one item more than its limit, which shows without another query whether a next page
 * exists.
 */
export function pageOf<Item>(
  items: readonly Item[],
  limit: number,
  list: string,
  positionOf: (item: Item) => readonly string[],
): Page<Item> {
  const shown = items.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = items.length > limit && last !== undefined;
  return { items: shown, nextCursor: hasMore ? encodeCursor(list, positionOf(last)) : null };
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Opaque; null on the last page. */
  readonly nextCursor: string | null;
}

export interface PageRequest {
  readonly cursor: string | null;
  readonly limit: number;
}
