/** The parameters of a statement, and the rows that the statement reads from them. */
import type { Columns } from '../sql/columns.js';
import type { Value } from './database.js';
import { columnName, encodeValue } from './notation.js';

const TYPES = { text: 'text', number: 'bigint', real: 'double precision', boolean: 'boolean' };

/**
 * Sorts by id, the order in which statements lock rows unless their plan chooses another (PG6). The
 * database sorts in the same order: ids are ASCII and sorted by `COLLATE "C"`.
 */
export function inLockOrder<Item extends { readonly id: string }>(
  items: readonly Item[],
): readonly Item[] {
  return items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

export class Parameters {
  readonly values: Value[] = [];

  /** Returns its placeholder in the statement: `$1`, `$2`, … */
  add(value: Value): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /** A source for FROM with one row for each item. The text of the statement doesn't depend on their number. */
  rows<Item>(name: string, items: readonly Item[], columns: Columns<Item>): string {
    const arrays = Object.values(columns).map(
      ([type, cellOf]) =>
        `${this.add(items.map((item) => encodeValue(cellOf(item))))}::${TYPES[type]}[]`,
    );
    return `unnest(${arrays.join(', ')}) AS ${name} (${columnNames(columns)})`;
  }

  /**
   * Like `rows`, with another text for a single item. In that text the database sees that there is only one row. So it keeps
   * the plan of the prepared statement; otherwise it would consider new plans cheaper, and plan each execution.
   */
  oneOrRows<Item>(name: string, items: readonly Item[], columns: Columns<Item>): string {
    const [item] = items;
    if (item === undefined || items.length > 1) return this.rows(name, items, columns);
    const cells = Object.values(columns).map(
      ([type, cellOf]) => `${this.add(encodeValue(cellOf(item)))}::${TYPES[type]}`,
    );
    return `(VALUES (${cells.join(', ')})) AS ${name} (${columnNames(columns)})`;
  }
}

export function columnNames(columns: Columns<never>): string {
  return Object.keys(columns).map(columnName).join(', ');
}

/** `WITH a AS (…), b AS (…) SELECT …` from the parts that aren't null. */
export function withParts(parts: readonly (string | null)[], statement: string): string {
  return `WITH ${parts.filter((part) => part !== null).join(',\n')}\n${statement}`;
}
