/** Converts the pages of lists between host and wire. */
import type { Page, PageRequest } from '../../../runtime/model/paging.js';
import { AppError } from '../../../base/errors.js';

/** The server's cursors are shorter; longer ones are rejected without decoding. */
const CURSOR_LENGTH_MAX = 1_000;

export function toPageRequest(limit: number, cursor: string | undefined): PageRequest {
  if (cursor !== undefined && cursor.length > CURSOR_LENGTH_MAX) {
    throw new AppError(
      'invalid_request',
      'The cursor is invalid: pass the cursor of an earlier page unchanged',
      {
        parameter: 'cursor',
      },
    );
  }
  return { limit, cursor: cursor === undefined || cursor === '' ? null : cursor };
}

export function toWirePage<Item, Wire>(
  page: Page<Item>,
  toWire: (item: Item) => Wire,
): { items: Wire[]; nextCursor: string | null } {
  return { items: page.items.map(toWire), nextCursor: page.nextCursor };
}
