import { StoredRow } from '../sql/stored-row.js';

/** A row of a result of SQLite, which stores a boolean as 0 or 1, and a list of strings as JSON. */
export class Row extends StoredRow {
  boolean(column: string): boolean {
    return this.number(column) !== 0;
  }

  texts(column: string): readonly string[] {
    const list = this.textOrNull(column);
    return list === null ? [] : (JSON.parse(list) as string[]); // Only this server writes lists.
  }

  protected value(column: string): unknown {
    return this.columns[column];
  }
}
