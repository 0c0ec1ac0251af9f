/**
 * Operations that SQLite and PostgreSQL share: one text for both, and one sequence of statements.
 *
 * SQLite's thread executes statements at once, and PostgreSQL's client awaits them. So an operation is a generator: it yields
 * a statement, and continues with the result. `yield*` stands where `await` would: `const rows = yield* select('…', id)`.
 *
 * Invariants:
 *  SQL1 Values are given as they are in the record. The database encodes text (see text-codec.ts) and booleans, and a row
 *       decodes them.
 *  SQL2 Texts are written in one notation, and each database translates it. `?` stands for a value, `@instances` for the
 *       table, and columns have the names of the record's members: PostgreSQL's are `start_time` where these are `startTime`.
 *       `INDEXED BY` is for SQLite, which has no statistics to choose an index by, and so is `{AND endTime IS NOT NULL}`: it
 *       doesn't infer the predicate of a partial index from another condition. Casts (`?::bigint`) are for PostgreSQL,
 *       which needs them where it would infer a smaller type. `= TRUE` and `= FALSE` are 1 and 0 in SQLite, and `instr` is
 *       `strpos` in PostgreSQL.
 *  SQL3 An operation is correct if other writers work between two of its statements: only SQLite has a transaction around
 *       it. Operations for which one store needs another form stay in the stores.
 */
import type { OperationArguments, OperationResult, StoreOperation } from '../store-operations.js';
import { namesOf, type Columns, type SqlParameter } from './columns.js';
import type { Sql } from './conditions.js';
import type { StoredRow } from './stored-row.js';

export interface SqlStatement {
  /**
   * - `select`: returns rows.
   * - `search`: a `select` whose best plan depends on the values. SQLite returns its rows one by one, as they are needed.
   * - `change`: returns only the number of changed rows.
   * - `write`: a `change` whose number doesn't matter. In a transaction, PostgreSQL's client doesn't wait for it.
   * - `remove`: deletes the rows of `table`, which has a column `id`, that `text` selects: the part of a query after FROM.
   */
  readonly kind: 'select' | 'search' | 'change' | 'write' | 'remove';
  readonly text: string;
  readonly values: readonly SqlParameter[];
  readonly table?: string;
}

export interface SqlResult {
  readonly rows: Iterable<StoredRow>;
  /** Only of statements that don't return rows. */
  readonly changes: number;
}

/** An operation, or a part of one. */
export type SqlSteps<Result> = Generator<SqlStatement, Result, SqlResult>;

export type SqlOperations = {
  readonly [Name in StoreOperation]?: (
    args: OperationArguments<Name>,
  ) => SqlSteps<OperationResult<Name>>;
};

export function* select(
  text: string,
  ...values: readonly SqlParameter[]
): SqlSteps<readonly StoredRow[]> {
  const { rows } = yield { kind: 'select', text, values };
  // Only a search returns its rows one by one.
  return rows as readonly StoredRow[];
}

export function* selectOne(
  text: string,
  ...values: readonly SqlParameter[]
): SqlSteps<StoredRow | null> {
  const [row] = yield* select(text, ...values);
  return row ?? null;
}

/** The rows must have been read before the next statement. */
export function* search({ text, values }: Sql): SqlSteps<Iterable<StoredRow>> {
  const { rows } = yield { kind: 'search', text, values };
  return rows;
}

export function* searchOne(statement: Sql): SqlSteps<StoredRow | null> {
  const [row] = yield* search(statement);
  return row ?? null;
}

export function* change(text: string, ...values: readonly SqlParameter[]): SqlSteps<number> {
  const { changes } = yield { kind: 'change', text, values };
  return changes;
}

export function* write(text: string, ...values: readonly SqlParameter[]): SqlSteps<void> {
  yield { kind: 'write', text, values };
}

/** Inserts one record, or does what `ending` says if it exists. */
export function* put<Item>(
  table: string,
  columns: Columns<Item>,
  item: Item,
  ending: string,
): SqlSteps<void> {
  yield* write(`INSERT INTO @${table} ${valuesPart(columns)} ${ending}`, ...cellsOf(columns, item));
}

/**
 * Inserts one record, and returns how many rows were changed.
 * @param ending such as `ON CONFLICT (id) DO NOTHING`
 */
export function* insert<Item>(
  table: string,
  columns: Columns<Item>,
  item: Item,
  ending = '',
): SqlSteps<number> {
  const values = cellsOf(columns, item);
  return yield* change(`INSERT INTO @${table} ${valuesPart(columns)} ${ending}`, ...values);
}

function cellsOf<Item>(columns: Columns<Item>, item: Item): readonly SqlParameter[] {
  return Object.values(columns).map(([, cellOf]) => cellOf(item));
}

/** Inserts the record if `expected` is null, or replaces the one with this revision. False: another writer was faster. */
export function* saveRevision<Item>(
  table: string,
  columns: Columns<Item>,
  { expected, item, keys }: { keys: readonly string[]; item: Item; expected: number | null },
): SqlSteps<boolean> {
  if (expected === null) {
    return (yield* insert(table, columns, item, `ON CONFLICT (${keys.join(', ')}) DO NOTHING`)) > 0;
  }
  const cells = Object.entries(columns).map(([name, [, cellOf]]) => ({ name, cell: cellOf(item) }));
  const changed = cells.filter(({ name }) => !keys.includes(name));
  const fixed = cells.filter(({ name }) => keys.includes(name));
  const compared = (some: typeof cells): readonly string[] => some.map(({ name }) => `${name} = ?`);
  const text = `UPDATE @${table} SET ${compared(changed).join(', ')}
                 WHERE ${compared(fixed).join(' AND ')} AND revision = ?`;
  return (yield* change(text, ...[...changed, ...fixed].map(({ cell }) => cell), expected)) > 0;
}

/** Kept, because an instance has many columns. */
const valuesParts = new WeakMap<object, string>();

function valuesPart(columns: Columns<never>): string {
  let part = valuesParts.get(columns);
  if (part === undefined) {
    const placeholders = Object.keys(columns).map(() => '?');
    part = `(${namesOf(columns)}) VALUES (${placeholders.join(', ')})`;
    valuesParts.set(columns, part);
  }
  return part;
}

/** Rows that another writer is removing are left to it. */
export function* removeSome(
  table: string,
  text: string,
  ...values: readonly SqlParameter[]
): SqlSteps<number> {
  const { changes } = yield { kind: 'remove', table, text, values };
  return changes;
}

const RESULTS_MAX = 1000;

/** Keeps the results of a function, such as a translation of the notation. Drops all of them if there are too many different texts. */
export function cached(compute: (text: string) => string): (text: string) => string {
  const results = new Map<string, string>();
  return (text) => {
    let result = results.get(text);
    if (result === undefined) {
      result = compute(text);
      if (results.size === RESULTS_MAX) results.clear();
      results.set(text, result);
    }
    return result;
  };
}
