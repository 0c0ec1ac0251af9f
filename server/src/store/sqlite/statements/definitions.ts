/** Definitions and custom steps: what SQLite does in another way than PostgreSQL. Writers run one after another. */
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import type {
  DefinitionRecord,
  StepScriptRecord,
  StoredDefinition,
} from '../../records/definitions.js';
import {
  DEFINITION_COLUMNS,
  DEFINITION_NAMES,
  definitionOf,
  disabledColumn,
  nameComparison,
  STAMP_COLUMNS,
  STEP_SCRIPT_COLUMNS,
  stepScriptOf,
  storedDefinitionOf,
} from '../../sql/definitions.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { translate } from '../notation.js';
import { insert } from '../../sql/statements.js';
import { runSteps } from '../shared-operations.js';

const IS_DISABLED = translate(disabledColumn('definitions.id'));

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
  const record = { id, version, description, body, createdAt };
  runSteps(
    database,
    insert('definitions', DEFINITION_COLUMNS, { ...record, source: source ?? null }),
  );
  if (idempotency !== null) {
    const stamp = { ...idempotency, definitionId: id, version };
    runSteps(database, insert('definition_stamps', STAMP_COLUMNS, stamp));
  }
  return { outcome: 'inserted', record };
}

export function listDefinitions(
  database: Database,
  [afterId, limit]: OperationArguments<'listDefinitions'>,
): readonly StoredDefinition[] {
  return database
    .all(
      `WITH newest AS (
         SELECT id, MAX(version) AS version FROM definitions WHERE id ${nameComparison(afterId)} ? GROUP BY id ORDER BY id LIMIT ?
       )
       SELECT ${DEFINITION_NAMES}, ${IS_DISABLED} FROM newest JOIN definitions USING (id, version) ORDER BY id`,
      encodeText(afterId ?? ''),
      limit,
    )
    .map(storedDefinitionOf);
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
  const record = { name, version, source, createdAt };
  runSteps(database, insert('step_scripts', STEP_SCRIPT_COLUMNS, record));
  return record;
}

export function listStepScripts(
  database: Database,
  [after, limit]: OperationArguments<'listStepScripts'>,
): readonly StepScriptRecord[] {
  return database
    .all(
      `WITH newest AS (
         SELECT name, MAX(version) AS version FROM step_scripts WHERE name ${nameComparison(after)} ? GROUP BY name ORDER BY name LIMIT ?
       )
       SELECT step_scripts.* FROM newest JOIN step_scripts USING (name, version) ORDER BY name`,
      encodeText(after ?? ''),
      limit,
    )
    .map(stepScriptOf);
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
