/** Definitions and custom steps: the operations that differ from PostgreSQL's. Writers run one after another. */
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
import type { Row } from '../row.js';
import { runSteps } from '../shared-operations.js';

/** A table of versions, and the column of their names. */
interface Versions {
  readonly table: string;
  readonly key: string;
}

const DEFINITIONS: Versions = { table: 'definitions', key: 'id' };
const STEP_SCRIPTS: Versions = { table: 'step_scripts', key: 'name' };

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
  const version = nextVersion(database, DEFINITIONS, id);
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
  const selected = `${DEFINITION_NAMES}, ${IS_DISABLED}`;
  return newestOfEach(database, { ...DEFINITIONS, selected }, [afterId, limit]).map(
    storedDefinitionOf,
  );
}

export function insertStepScript(
  database: Database,
  [script]: OperationArguments<'insertStepScript'>,
): StepScriptRecord {
  const { name, source, createdAt } = script;
  const version = nextVersion(database, STEP_SCRIPTS, name);
  const record = { name, version, source, createdAt };
  runSteps(database, insert('step_scripts', STEP_SCRIPT_COLUMNS, record));
  return record;
}

export function listStepScripts(
  database: Database,
  [after, limit]: OperationArguments<'listStepScripts'>,
): readonly StepScriptRecord[] {
  const selected = 'step_scripts.*';
  return newestOfEach(database, { ...STEP_SCRIPTS, selected }, [after, limit]).map(stepScriptOf);
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

function nextVersion(database: Database, { key, table }: Versions, name: string): number {
  const text = `SELECT MAX(version) AS n FROM ${table} WHERE ${key} = ?`;
  return (database.get(text, encodeText(name))?.numberOrNull('n') ?? 0) + 1;
}

/** Apart from PostgreSQL, which finds the names by their version 1, and the newest of each with a lateral join. */
function newestOfEach(
  database: Database,
  { key, selected, table }: Versions & { readonly selected: string },
  [after, limit]: readonly [after: string | null, limit: number],
): readonly Row[] {
  return database.all(
    `WITH newest AS (
       SELECT ${key}, MAX(version) AS version FROM ${table} WHERE ${key} ${nameComparison(after)} ? GROUP BY ${key} ORDER BY ${key} LIMIT ?
     )
     SELECT ${selected} FROM newest JOIN ${table} USING (${key}, version) ORDER BY ${key}`,
    encodeText(after ?? ''),
    limit,
  );
}
