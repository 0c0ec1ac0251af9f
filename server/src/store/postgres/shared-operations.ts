/** The operations that PostgreSQL shares with SQLite, on this database: see sql/statements.ts. */
import { SQL_OPERATIONS, type SharedOperation } from '../sql/operations.js';
import type { SqlResult, SqlStatement, SqlSteps } from '../sql/statements.js';
import type { AsynchronousOperations } from '../store-operations.js';
import type { Database, Statements } from './database.js';
import { encodeValue, translate } from './notation.js';
import type { PostgresContext } from './postgres-context.js';

type SharedOperations = Pick<AsynchronousOperations<PostgresContext>, SharedOperation>;

export function sharedOperations(): SharedOperations {
  const operations = Object.entries(SQL_OPERATIONS).map(([name, operation]) => [
    name,
    ({ database }: PostgresContext, args: never) =>
      runSteps(database, operation(args) as SqlSteps<unknown>),
  ]);
  // TypeScript loses the names when an object is built from a list of pairs.
  return Object.fromEntries(operations) as SharedOperations;
}

/** A database, or the statements of a transaction, in which there are no searches. */
type Runner = Statements & Partial<Pick<Database, 'queryByValues'>>;

const NO_RESULT: SqlResult = { rows: [], changes: 0 };

export async function runSteps<Result>(database: Runner, steps: SqlSteps<Result>): Promise<Result> {
  let step = steps.next();
  while (step.done !== true) step = steps.next(await run(database, step.value));
  return step.value;
}

async function run(
  database: Runner,
  { kind, table = '', text, values }: SqlStatement,
): Promise<SqlResult> {
  const encoded = values.map(encodeValue);
  switch (kind) {
    case 'select':
      return { rows: await database.query(translate(text), encoded), changes: 0 };
    case 'search':
      if (database.queryByValues === undefined)
        throw new TypeError('A transaction has no searches');
      return { rows: await database.queryByValues(translate(text), encoded), changes: 0 };
    case 'write':
      if (database.send !== undefined) {
        database.send(translate(text), encoded);
        return NO_RESULT;
      }
      return { rows: [], changes: await database.execute(translate(text), encoded) };
    case 'change':
      return { rows: [], changes: await database.execute(translate(text), encoded) };
    case 'remove': {
      // PG9
      const found = `SELECT id FROM @${table} ${text} FOR UPDATE SKIP LOCKED`;
      const remove = `DELETE FROM @${table} WHERE id = ANY (ARRAY(${found}))`;
      return { rows: [], changes: await database.execute(translate(remove), encoded) };
    }
  }
}
