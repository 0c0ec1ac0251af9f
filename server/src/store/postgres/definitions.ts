/**
 * Definitions and custom steps: rows by name and version.
 *
 * A writer uses the version after the latest one that it sees, and tries the next one if another writer was faster. No lock
 * is held longer than one statement.
 */
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { StoreUnavailableError } from '../store.js';
import type {
  DefinitionVersion,
  IdempotencyStamp,
  NewDefinition,
  StepScriptRecord,
  StepScriptVersion,
  StoredDefinition,
} from '../records/definitions.js';
import { ORIGIN_HEAD_COLUMN, originOf } from '../definition-origin.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Value } from './database.js';
import type { PostgresContext } from './postgres-context.js';
import { encodeOptional } from './instance-rows.js';
import { isUniqueViolation } from './postgres-errors.js';
import type { Row } from './row.js';

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

/** A column of a query on definitions. */
export const disabledColumn = (id: string): string =>
  `EXISTS (SELECT FROM @disabled_definitions AS known WHERE known.id = ${id}) AS disabled`;
const IS_DISABLED = disabledColumn('@definitions.id');
/** All but the source, which may be as long as the body. */
const COLUMNS = 'id, version, description, created_at, body';

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

export async function getDefinition(
  { database }: PostgresContext,
  [id, version]: OperationArguments<'getDefinition'>,
): Promise<StoredDefinition | null> {
  const stored = encodeTextWithoutNul(id);
  const [row] =
    version === 'latest'
      ? await database.query(
          `SELECT ${COLUMNS}, ${IS_DISABLED} FROM @definitions WHERE id = $1 ORDER BY version DESC LIMIT 1`,
          [stored],
        )
      : await database.query(
          `SELECT ${COLUMNS}, ${IS_DISABLED} FROM @definitions WHERE id = $1 AND version = $2::bigint`,
          [stored, version],
        );
  return row === undefined ? null : storedDefinitionOf(row);
}

export async function getDefinitionSource(
  { database }: PostgresContext,
  [id, version]: OperationArguments<'getDefinitionSource'>,
): Promise<string | null> {
  const stored = encodeTextWithoutNul(id);
  const [row] =
    version === 'latest'
      ? await database.query(
          'SELECT source FROM @definitions WHERE id = $1 ORDER BY version DESC LIMIT 1',
          [stored],
        )
      : await database.query(
          'SELECT source FROM @definitions WHERE id = $1 AND version = $2::bigint',
          [stored, version],
        );
  return row?.textOrNull('source') ?? null;
}

export async function setDefinitionDisabled(
  { database }: Pick<PostgresContext, 'database'>,
  [id, disabled]: OperationArguments<'setDefinitionDisabled'>,
): Promise<boolean> {
  const name = encodeTextWithoutNul(id);
  const [known] = await database.query(
    'SELECT EXISTS (SELECT FROM @definitions WHERE id = $1) AS found',
    [name],
  );
  if (known?.boolean('found') !== true) return false;
  await database.execute(
    disabled
      ? 'INSERT INTO @disabled_definitions (id) VALUES ($1) ON CONFLICT (id) DO NOTHING'
      : 'DELETE FROM @disabled_definitions WHERE id = $1',
    [name],
  );
  return true;
}

/** Every definition has a version 1, which selects the page of ids; the latest version of each follows. */
export async function listDefinitions(
  { database }: PostgresContext,
  [afterId, limit]: OperationArguments<'listDefinitions'>,
): Promise<readonly StoredDefinition[]> {
  const rows = await database.query(
    `SELECT ${COLUMNS}, ${disabledColumn('newest.id')} FROM (
       SELECT id AS name FROM @definitions WHERE version = 1 AND id ${comparison(afterId)} $1 ORDER BY id LIMIT $2::bigint
     ) AS first CROSS JOIN LATERAL (
       SELECT ${COLUMNS} FROM @definitions AS each WHERE each.id = first.name ORDER BY each.version DESC LIMIT 1
     ) AS newest ORDER BY newest.id`,
    [encodeTextWithoutNul(afterId ?? ''), limit],
  );
  return rows.map(storedDefinitionOf);
}

export async function listDefinitionVersions(
  { database }: PostgresContext,
  [id, beforeVersion, limit]: OperationArguments<'listDefinitionVersions'>,
): Promise<readonly DefinitionVersion[]> {
  const rows = await database.query(
    `SELECT id, version, description, created_at, ${ORIGIN_HEAD_COLUMN}, ${IS_DISABLED} FROM @definitions
      WHERE id = $1 AND version < $2::bigint ORDER BY version DESC LIMIT $3::bigint`,
    [encodeTextWithoutNul(id), beforeVersion ?? Number.MAX_SAFE_INTEGER, limit],
  );
  return rows.map(definitionVersionOf);
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

export async function getStepScript(
  { database }: PostgresContext,
  [name, version]: OperationArguments<'getStepScript'>,
): Promise<StepScriptRecord | null> {
  const stored = encodeTextWithoutNul(name);
  const [row] =
    version === 'latest'
      ? await database.query(
          'SELECT * FROM @step_scripts WHERE name = $1 ORDER BY version DESC LIMIT 1',
          [stored],
        )
      : await database.query(
          'SELECT * FROM @step_scripts WHERE name = $1 AND version = $2::bigint',
          [stored, version],
        );
  return row === undefined ? null : stepScriptOf(row);
}

export async function listStepScripts(
  { database }: PostgresContext,
  [after, limit]: OperationArguments<'listStepScripts'>,
): Promise<readonly StepScriptRecord[]> {
  const rows = await database.query(
    `SELECT newest.* FROM (
       SELECT name FROM @step_scripts WHERE version = 1 AND name ${comparison(after)} $1 ORDER BY name LIMIT $2::bigint
     ) AS first CROSS JOIN LATERAL (
       SELECT * FROM @step_scripts AS each WHERE each.name = first.name ORDER BY each.version DESC LIMIT 1
     ) AS newest ORDER BY newest.name`,
    [encodeTextWithoutNul(after ?? ''), limit],
  );
  return rows.map(stepScriptOf);
}

export async function listStepScriptVersions(
  { database }: PostgresContext,
  [name, beforeVersion, limit]: OperationArguments<'listStepScriptVersions'>,
): Promise<readonly StepScriptVersion[]> {
  const rows = await database.query(
    `SELECT name, version, created_at FROM @step_scripts
      WHERE name = $1 AND version < $2::bigint ORDER BY version DESC LIMIT $3::bigint`,
    [encodeTextWithoutNul(name), beforeVersion ?? Number.MAX_SAFE_INTEGER, limit],
  );
  return rows.map(stepScriptVersionOf);
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
    const known = await getDefinition(context, [row.text('definition_id'), version]);
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

/** A list from the start includes an empty name. */
function comparison(after: string | null): '>' | '>=' {
  return after === null ? '>=' : '>';
}

export function storedDefinitionOf(row: Row): StoredDefinition {
  return {
    id: row.text('id'),
    version: row.number('version'),
    description: row.textOrNull('description'),
    createdAt: row.number('created_at'),
    disabled: row.boolean('disabled'),
    body: row.text('body'),
  };
}

function definitionVersionOf(row: Row): DefinitionVersion {
  return {
    id: row.text('id'),
    version: row.number('version'),
    description: row.textOrNull('description'),
    createdAt: row.number('created_at'),
    disabled: row.boolean('disabled'),
    origin: originOf(row.textOrNull('head')),
  };
}

export function stepScriptOf(row: Row): StepScriptRecord {
  return { ...stepScriptVersionOf(row), source: row.text('source') };
}

function stepScriptVersionOf(row: Row): StepScriptVersion {
  return {
    name: row.text('name'),
    version: row.number('version'),
    createdAt: row.number('created_at'),
  };
}

function tooMuchContention(): StoreUnavailableError {
  return new StoreUnavailableError(
    'Too many concurrent writers are storing versions of the same name',
  );
}
