import { StoredRow } from '../sql/stored-row.js';
import { decodeText } from '../text-codec.js';
import { columnName } from './notation.js';

/** A row of a result of PostgreSQL, which has booleans and arrays. */
export class Row extends StoredRow {
  texts(column: string): readonly string[] {
    const value = this.value(column);
    if (value === null) return [];
    if (!Array.isArray(value)) throw new TypeError(`Column ${column} is not a list`);
    return value.map((item) => decodeText(String(item)));
  }

  /** The columns whose names begin with the prefix. */
  within(prefix: string): Row {
    const own = Object.entries(this.columns).flatMap(([name, value]) =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), value] as const] : [],
    );
    return new Row(Object.fromEntries(own));
  }

  boolean(column: string): boolean {
    return this.notNull(column, this.booleanOrNull(column));
  }

  booleanOrNull(column: string): boolean | null {
    const value = this.value(column);
    if (value === null || typeof value === 'boolean') return value;
    throw new TypeError(`Column ${column} is not a boolean`);
  }

  protected value(column: string): unknown {
    return this.columns[columnName(column)];
  }
}
