/** The operations that SQLite shares with PostgreSQL, on this database: see sql/statements.ts. */
import { SQL_OPERATIONS, type SharedOperation } from '../sql/operations.js';
import type { SqlResult, SqlStatement, SqlSteps } from '../sql/statements.js';
import type { SynchronousOperations } from '../store-operations.js';
import type { Database } from './database.js';
import { encodeValue, translate } from './notation.js';

export function sharedOperations(): Pick<SynchronousOperations<Database>, SharedOperation> {
  const operations = Object.entries(SQL_OPERATIONS).map(([name, operation]) => [
    name,
    (database: Database, args: never) => runSteps(database, operation(args) as SqlSteps<unknown>),
  ]);
  // TypeScript loses the names when an object is built from a list of pairs.
  return Object.fromEntries(operations) as Pick<SynchronousOperations<Database>, SharedOperation>;
}

export function runSteps<Result>(database: Database, steps: SqlSteps<Result>): Result {
  let step = steps.next();
  while (step.done !== true) step = steps.next(run(database, step.value));
  return step.value;
}

function run(database: Database, { kind, table = '', text, values }: SqlStatement): SqlResult {
  const encoded = values.map(encodeValue);
  switch (kind) {
    case 'select':
      return { rows: database.all(translate(text), ...encoded), changes: 0 };
    case 'search':
      return { rows: database.each(translate(text), ...encoded), changes: 0 };
    case 'change':
    case 'write':
      return { rows: [], changes: database.run(translate(text), ...encoded) };
    case 'remove': {
      const found = `SELECT id FROM ${table} ${text}`;
      const remove = `DELETE FROM ${table} WHERE id IN (${found})`;
      return { rows: [], changes: database.run(translate(remove), ...encoded) };
    }
  }
}
