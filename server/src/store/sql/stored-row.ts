/**
 * A row of a query result, whose columns are read with their types.
 *
 * Columns have the names that the members of the records have; each database maps them to its own (SQL2).
 */
import { decodeText } from '../text-codec.js';

export abstract class StoredRow {
  protected readonly columns: Readonly<Record<string, unknown>>;

  constructor(columns: Readonly<Record<string, unknown>>) {
    this.columns = columns;
  }

  /** The column as the driver returns it. */
  protected abstract value(column: string): unknown;

  abstract boolean(column: string): boolean;

  /** A list of strings; empty if the column is null. */
  abstract texts(column: string): readonly string[];

  text(column: string): string {
    return this.notNull(column, this.textOrNull(column));
  }

  textOrNull(column: string): string | null {
    const value = this.value(column);
    if (value === null) return null;
    if (typeof value !== 'string') throw new TypeError(`Column ${column} is not text`);
    return decodeText(value);
  }

  number(column: string): number {
    return this.notNull(column, this.numberOrNull(column));
  }

  numberOrNull(column: string): number | null {
    const value = this.value(column);
    if (value === null || typeof value === 'number') return value;
    throw new TypeError(`Column ${column} is not a number`);
  }

  protected notNull<Value>(column: string, value: Value | null): Value {
    if (value === null) throw new TypeError(`Column ${column} is null`);
    return value;
  }
}
