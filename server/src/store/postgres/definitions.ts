/**
 * Definitions and custom steps: the operations that differ from SQLite's.
 *
 * A writer uses the version after the latest one that it sees, and tries the next one if another writer was faster. No lock
 * is held longer than one statement.
 */
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { StoreUnavailableError } from '../store.js';
import type {
  IdempotencyStamp,
  NewDefinition,
  StepScriptRecord,
  StoredDefinition,
} from '../records/definitions.js';
import {
  DEFINITION_NAMES,
  DEFINITION_OPERATIONS,
  disabledColumn,
  nameComparison,
  stepScriptOf,
  storedDefinitionOf,
} from '../sql/definitions.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Value } from './database.js';
import { encodeOptional } from './instance-rows.js';
import { translate } from './notation.js';
import type { PostgresContext } from './postgres-context.js';
import { isUniqueViolation } from './postgres-errors.js';
import type { Row } from './row.js';
import { runSteps } from './shared-operations.js';

const COLUMNS = translate(DEFINITION_NAMES);
const IS_DISABLED = disabledColumn('newest.id');

/** How many times other writers may be faster before the insert fails. */
const ATTEMPTS_MAX = 200;

/** Returns no row if another writer was faster, or if the condition is false. */
const insertDefinitionIf = (condition: string): string => `
INSERT INTO @definitions (id, version, description, created_at, body, source)
SELECT $1, coalesce(max(version), 0) + 1, $2, $3::bigint, $4, $5 FROM @definitions WHERE id = $1
${condition} ON CONFLICT (id, version) DO NOTHING RETURNING version`;

const INSERT_DEFINITION = insertDefinitionIf('');

/** The version and its stamp appear together. If another writer is inserting the same stamp, the whole statement fails. */
const INSERT_STAMPED = `
WITH known AS (SELECT request_hash, definition_id, version FROM @definition_stamps WHERE id = $6),
inserted AS (${insertDefinitionIf('HAVING NOT EXISTS (SELECT FROM known)')}
),
stamped AS (
  INSERT INTO @definition_stamps (id, request_hash, definition_id, version)
  SELECT $6, $7, $1, version FROM inserted RETURNING version
)
SELECT true AS inserted, version, NULL AS request_hash, NULL AS definition_id FROM stamped
UNION ALL SELECT false, version, request_hash, definition_id FROM known`;

const INSERT_STEP_SCRIPT = `
INSERT INTO @step_scripts (name, version, created_at, source)
SELECT $1, coalesce(max(version), 0) + 1, $2::bigint, $3 FROM @step_scripts WHERE name = $1
    ON CONFLICT (name, version) DO NOTHING RETURNING version`;

export async function insertDefinition(
  context: PostgresContext,
  [definition, stamp]: OperationArguments<'insertDefinition'>,
): Promise<OperationResult<'insertDefinition'>> {
  const { body, createdAt, description, id, source } = definition;
  const values = [
    encodeTextWithoutNul(id),
    description === null ? null : encodeTextWithoutNul(description),
    createdAt,
    encodeTextWithoutNul(body),
    encodeOptional(source ?? null),
  ];
  if (stamp !== null) return insertStamped(context, definition, { values, stamp });
  const version = await insertNextVersion(context, INSERT_DEFINITION, values);
  return { outcome: 'inserted', record: { id, version, description, body, createdAt } };
}

export async function listDefinitions(
  { database }: PostgresContext,
  [afterId, limit]: OperationArguments<'listDefinitions'>,
): Promise<readonly StoredDefinition[]> {
  const rows = await database.query(
    newestOfEach({
      table: 'definitions',
      key: 'id',
      columns: COLUMNS,
      after: afterId,
      more: `, ${IS_DISABLED}`,
    }),
    [encodeTextWithoutNul(afterId ?? ''), limit],
  );
  return rows.map(storedDefinitionOf);
}

export async function insertStepScript(
  context: PostgresContext,
  [{ name, source, createdAt }]: OperationArguments<'insertStepScript'>,
): Promise<StepScriptRecord> {
  const version = await insertNextVersion(context, INSERT_STEP_SCRIPT, [
    encodeTextWithoutNul(name),
    createdAt,
    encodeTextWithoutNul(source),
  ]);
  return { name, version, source, createdAt };
}

export async function listStepScripts(
  { database }: PostgresContext,
  [after, limit]: OperationArguments<'listStepScripts'>,
): Promise<readonly StepScriptRecord[]> {
  const rows = await database.query(
    newestOfEach({ table: 'step_scripts', key: 'name', columns: '*', after }),
    [encodeTextWithoutNul(after ?? ''), limit],
  );
  return rows.map(stepScriptOf);
}

/** Every name has a version 1, which selects the page of names; the latest version of each follows. */
function newestOfEach({
  after,
  columns,
  key,
  more = '',
  table,
}: {
  readonly table: string;
  readonly key: string;
  readonly columns: string;
  readonly after: string | null;
  /** Columns that aren't in the table. */
  readonly more?: string;
}): string {
  return `SELECT newest.*${more} FROM (
       SELECT ${key} AS name FROM @${table} WHERE version = 1 AND ${key} ${nameComparison(after)} $1 ORDER BY ${key} LIMIT $2::bigint
     ) AS first CROSS JOIN LATERAL (
       SELECT ${columns} FROM @${table} AS each WHERE each.${key} = first.name ORDER BY each.version DESC LIMIT 1
     ) AS newest ORDER BY newest.${key}`;
}

/** Returns the version. */
async function insertNextVersion(
  { database }: PostgresContext,
  statement: string,
  values: readonly Value[],
): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const [inserted] = await database.query(statement, values);
    if (inserted !== undefined) return inserted.number('version');
  }
  throw tooMuchContention();
}

async function insertStamped(
  context: PostgresContext,
  definition: NewDefinition,
  { stamp, values }: { readonly values: readonly Value[]; readonly stamp: IdempotencyStamp },
): Promise<OperationResult<'insertDefinition'>> {
  const { body, createdAt, description, id } = definition;
  const all = [...values, encodeTextWithoutNul(stamp.id), encodeTextWithoutNul(stamp.requestHash)];
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const row = await stampedRow(context, all);
    if (row === null) continue;
    const version = row.number('version');
    if (row.boolean('inserted')) {
      return { outcome: 'inserted', record: { id, version, description, body, createdAt } };
    }
    if (row.text('request_hash') !== stamp.requestHash) return { outcome: 'conflict' };
    // The key may have been used for another definition.
    const steps = DEFINITION_OPERATIONS.getDefinition([row.text('definition_id'), version]);
    const known = await runSteps(context.database, steps);
    if (known === null) continue;
    const { body: content, createdAt: time, description: about, id: name } = known;
    const record = { id: name, version, description: about, body: content, createdAt: time };
    return { outcome: 'repeated', record };
  }
  throw tooMuchContention();
}

/** Null: another writer was faster. */
async function stampedRow(
  { database }: PostgresContext,
  values: readonly Value[],
): Promise<Row | null> {
  try {
    const [row] = await database.query(INSERT_STAMPED, values);
    return row ?? null;
  } catch (error) {
    if (isUniqueViolation(error)) return null;
    throw error;
  }
}

function tooMuchContention(): StoreUnavailableError {
  return new StoreUnavailableError(
    'Too many concurrent writers are storing versions of the same name',
  );
}
