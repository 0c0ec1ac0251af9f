/** A row of a result, whose columns are read with their types. */
import type { SQLOutputValue } from 'node:sqlite';
import { decodeText } from '../text-codec.js';

export class Row {
  readonly #columns: Readonly<Record<string, SQLOutputValue>>;

  constructor(columns: Readonly<Record<string, SQLOutputValue>>) {
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
    return this.number(column) !== 0;
  }
}
