import { StoredRow } from '../stored-row.js';

/** A row of a result of SQLite, which stores a boolean as 0 or 1. */
export class Row extends StoredRow {
  boolean(column: string): boolean {
    return this.number(column) !== 0;
  }
}
