/** Definitions and custom steps: rows by name and version. */
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import type {
  DefinitionRecord,
  DefinitionVersion,
  StepScriptRecord,
  StepScriptVersion,
  StoredDefinition,
} from '../../records/definitions.js';
import { ORIGIN_HEAD_COLUMN, originOf } from '../../definition-origin.js';
import { encodeOptional, encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import type { Row } from '../row.js';

/** A column of a query on definitions. */
export const IS_DISABLED =
  'EXISTS (SELECT 1 FROM disabled_definitions WHERE disabled_definitions.id = definitions.id) AS disabled';

/** All but the source, which may be as long as the body. */
const COLUMNS = 'id, version, description, createdAt, body';

export function insertDefinition(
  database: Database,
  [definition, idempotency]: OperationArguments<'insertDefinition'>,
): OperationResult<'insertDefinition'> {
  if (idempotency !== null) {
    const known = findStamp(database, idempotency.id);
    if (known !== null) {
      return known.requestHash === idempotency.requestHash
        ? { outcome: 'repeated', record: known.record }
        : { outcome: 'conflict' };
    }
  }
  const { id, description, body, createdAt, source } = definition;
  const version = nextVersion(
    database,
    'SELECT MAX(version) AS n FROM definitions WHERE id = ?',
    id,
  );
  database.run(
    'INSERT INTO definitions (id, version, description, createdAt, body, source) VALUES (?, ?, ?, ?, ?, ?)',
    encodeText(id),
    version,
    encodeOptional(description),
    createdAt,
    encodeText(body),
    encodeOptional(source ?? null),
  );
  if (idempotency !== null) {
    database.run(
      'INSERT INTO definition_stamps (id, requestHash, definitionId, version) VALUES (?, ?, ?, ?)',
      encodeText(idempotency.id),
      encodeText(idempotency.requestHash),
      encodeText(id),
      version,
    );
  }
  return { outcome: 'inserted', record: { id, version, description, body, createdAt } };
}

export function getDefinition(
  database: Database,
  [id, version]: OperationArguments<'getDefinition'>,
): StoredDefinition | null {
  const row =
    version === 'latest'
      ? database.get(
          `SELECT ${COLUMNS}, ${IS_DISABLED} FROM definitions WHERE id = ? ORDER BY version DESC LIMIT 1`,
          encodeText(id),
        )
      : database.get(
          `SELECT ${COLUMNS}, ${IS_DISABLED} FROM definitions WHERE id = ? AND version = ?`,
          encodeText(id),
          version,
        );
  return row === null ? null : storedDefinitionOf(row);
}

export function getDefinitionSource(
  database: Database,
  [id, version]: OperationArguments<'getDefinitionSource'>,
): string | null {
  const row =
    version === 'latest'
      ? database.get(
          'SELECT source FROM definitions WHERE id = ? ORDER BY version DESC LIMIT 1',
          encodeText(id),
        )
      : database.get(
          'SELECT source FROM definitions WHERE id = ? AND version = ?',
          encodeText(id),
          version,
        );
  return row?.textOrNull('source') ?? null;
}

export function setDefinitionDisabled(
  database: Database,
  [id, disabled]: OperationArguments<'setDefinitionDisabled'>,
): boolean {
  const name = encodeText(id);
  const known = database.get('SELECT 1 AS found FROM definitions WHERE id = ? LIMIT 1', name);
  if (known === null) return false;
  if (disabled) database.run('INSERT OR IGNORE INTO disabled_definitions (id) VALUES (?)', name);
  else database.run('DELETE FROM disabled_definitions WHERE id = ?', name);
  return true;
}

export function listDefinitions(
  database: Database,
  [afterId, limit]: OperationArguments<'listDefinitions'>,
): readonly StoredDefinition[] {
  return database
    .all(
      `WITH newest AS (
         SELECT id, MAX(version) AS version FROM definitions WHERE id ${comparison(afterId)} ? GROUP BY id ORDER BY id LIMIT ?
       )
       SELECT ${COLUMNS}, ${IS_DISABLED} FROM newest JOIN definitions USING (id, version) ORDER BY id`,
      encodeText(afterId ?? ''),
      limit,
    )
    .map(storedDefinitionOf);
}

export function listDefinitionVersions(
  database: Database,
  [id, beforeVersion, limit]: OperationArguments<'listDefinitionVersions'>,
): readonly DefinitionVersion[] {
  return database
    .all(
      `SELECT id, version, description, createdAt, ${ORIGIN_HEAD_COLUMN}, ${IS_DISABLED} FROM definitions
        WHERE id = ? AND version < ? ORDER BY version DESC LIMIT ?`,
      encodeText(id),
      beforeVersion ?? Number.MAX_SAFE_INTEGER,
      limit,
    )
    .map(definitionVersionOf);
}

export function insertStepScript(
  database: Database,
  [script]: OperationArguments<'insertStepScript'>,
): StepScriptRecord {
  const { name, source, createdAt } = script;
  const version = nextVersion(
    database,
    'SELECT MAX(version) AS n FROM step_scripts WHERE name = ?',
    name,
  );
  database.run(
    'INSERT INTO step_scripts (name, version, createdAt, source) VALUES (?, ?, ?, ?)',
    encodeText(name),
    version,
    createdAt,
    encodeText(source),
  );
  return { name, version, source, createdAt };
}

export function getStepScript(
  database: Database,
  [name, version]: OperationArguments<'getStepScript'>,
): StepScriptRecord | null {
  const row =
    version === 'latest'
      ? database.get(
          'SELECT * FROM step_scripts WHERE name = ? ORDER BY version DESC LIMIT 1',
          encodeText(name),
        )
      : database.get(
          'SELECT * FROM step_scripts WHERE name = ? AND version = ?',
          encodeText(name),
          version,
        );
  return row === null ? null : stepScriptOf(row);
}

export function listStepScripts(
  database: Database,
  [after, limit]: OperationArguments<'listStepScripts'>,
): readonly StepScriptRecord[] {
  return database
    .all(
      `WITH newest AS (
         SELECT name, MAX(version) AS version FROM step_scripts WHERE name ${comparison(after)} ? GROUP BY name ORDER BY name LIMIT ?
       )
       SELECT step_scripts.* FROM newest JOIN step_scripts USING (name, version) ORDER BY name`,
      encodeText(after ?? ''),
      limit,
    )
    .map(stepScriptOf);
}

export function listStepScriptVersions(
  database: Database,
  [name, beforeVersion, limit]: OperationArguments<'listStepScriptVersions'>,
): readonly StepScriptVersion[] {
  return database
    .all(
      `SELECT name, version, createdAt FROM step_scripts
        WHERE name = ? AND version < ? ORDER BY version DESC LIMIT ?`,
      encodeText(name),
      beforeVersion ?? Number.MAX_SAFE_INTEGER,
      limit,
    )
    .map(stepScriptVersionOf);
}

function findStamp(
  database: Database,
  stampId: string,
): { readonly requestHash: string; readonly record: DefinitionRecord } | null {
  const row = database.get(
    `SELECT definition_stamps.requestHash, definitions.id, definitions.version, description, createdAt, body
       FROM definition_stamps JOIN definitions
         ON definitions.id = definition_stamps.definitionId AND definitions.version = definition_stamps.version
      WHERE definition_stamps.id = ?`,
    encodeText(stampId),
  );
  return row === null ? null : { requestHash: row.text('requestHash'), record: definitionOf(row) };
}

function nextVersion(database: Database, sql: string, name: string): number {
  return (database.get(sql, encodeText(name))?.numberOrNull('n') ?? 0) + 1;
}

/** A list from the start includes an empty name. */
function comparison(after: string | null): '>' | '>=' {
  return after === null ? '>=' : '>';
}

export function storedDefinitionOf(row: Row): StoredDefinition {
  return { ...definitionOf(row), disabled: row.boolean('disabled') };
}

function definitionOf(row: Row): DefinitionRecord {
  return {
    id: row.text('id'),
    version: row.number('version'),
    description: row.textOrNull('description'),
    body: row.text('body'),
    createdAt: row.number('createdAt'),
  };
}

function definitionVersionOf(row: Row): DefinitionVersion {
  return {
    id: row.text('id'),
    version: row.number('version'),
    description: row.textOrNull('description'),
    createdAt: row.number('createdAt'),
    disabled: row.boolean('disabled'),
    origin: originOf(row.textOrNull('head')),
  };
}

function stepScriptOf(row: Row): StepScriptRecord {
  return { ...stepScriptVersionOf(row), source: row.text('source') };
}

function stepScriptVersionOf(row: Row): StepScriptVersion {
  return {
    name: row.text('name'),
    version: row.number('version'),
    createdAt: row.number('createdAt'),
  };
}
