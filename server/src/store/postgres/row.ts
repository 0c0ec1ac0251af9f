/** A row of a result, whose columns are read with their types. */
import { decodeText } from '../text-codec.js';

export class Row {
  readonly #columns: Readonly<Record<string, unknown>>;

  constructor(columns: Readonly<Record<string, unknown>>) {
    this.#columns = columns;
  }

  text(column: string): string {
    const value = this.textOrNull(column);
    if (value === null) throw new TypeError(`Column ${column} is null`);
    return value;
  }

  textOrNull(column: string): string | null {
    const value = this.#columns[column];
    if (value === null) return null;
    if (typeof value !== 'string') throw new TypeError(`Column ${column} is not text`);
    return decodeText(value);
  }

  /** A list of strings; empty if the column is null. */
  texts(column: string): readonly string[] {
    const value = this.#columns[column];
    if (value === null) return [];
    if (!Array.isArray(value)) throw new TypeError(`Column ${column} is not a list`);
    return value.map((item) => decodeText(String(item)));
  }

  number(column: string): number {
    const value = this.numberOrNull(column);
    if (value === null) throw new TypeError(`Column ${column} is null`);
    return value;
  }

  numberOrNull(column: string): number | null {
    const value = this.#columns[column];
    if (value === null || typeof value === 'number') return value;
    throw new TypeError(`Column ${column} is not a number`);
  }

  boolean(column: string): boolean {
    const value = this.booleanOrNull(column);
    if (value === null) throw new TypeError(`Column ${column} is null`);
    return value;
  }

  booleanOrNull(column: string): boolean | null {
    const value = this.#columns[column];
    if (value === null || typeof value === 'boolean') return value;
    throw new TypeError(`Column ${column} is not a boolean`);
  }
}
