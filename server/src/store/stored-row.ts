/** A row of a query result, whose columns are read with their types. */
import { decodeText } from './text-codec.js';

export class StoredRow {
  readonly #columns: Readonly<Record<string, unknown>>;

  constructor(columns: Readonly<Record<string, unknown>>) {
    this.#columns = columns;
  }

  text(column: string): string {
    return this.notNull(column, this.textOrNull(column));
  }

  textOrNull(column: string): string | null {
    const value = this.#columns[column];
    if (value === null) return null;
    if (typeof value !== 'string') throw new TypeError(`Column ${column} is not text`);
    return decodeText(value);
  }

  number(column: string): number {
    return this.notNull(column, this.numberOrNull(column));
  }

  numberOrNull(column: string): number | null {
    const value = this.#columns[column];
    if (value === null || typeof value === 'number') return value;
    throw new TypeError(`Column ${column} is not a number`);
  }

  protected value(column: string): unknown {
    return this.#columns[column];
  }

  protected notNull<Value>(column: string, value: Value | null): Value {
    if (value === null) throw new TypeError(`Column ${column} is null`);
    return value;
  }
}
