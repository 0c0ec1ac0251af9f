/** Definitions and custom steps: rows by name and version. */
import type {
  DefinitionRecord,
  DefinitionVersion,
  IdempotencyStamp,
  StepScriptRecord,
  StepScriptVersion,
  StoredDefinition,
} from '../records/definitions.js';
import { ORIGIN_HEAD_COLUMN, originOf } from '../definition-origin.js';
import { columnsOf, namesOf, readRecord, type RecordColumns } from './columns.js';
import { change, select, selectOne, type SqlOperations, type SqlSteps } from './statements.js';
import type { StoredRow } from './stored-row.js';

const STEP_SCRIPT_VERSION: RecordColumns<StepScriptVersion> = {
  name: 'text',
  version: 'number',
  createdAt: 'number',
};

const STEP_SCRIPT: RecordColumns<StepScriptRecord> = { ...STEP_SCRIPT_VERSION, source: 'text' };

export const STEP_SCRIPT_COLUMNS = columnsOf(STEP_SCRIPT);

const DEFINITION: RecordColumns<DefinitionRecord> = {
  id: 'text',
  version: 'number',
  description: 'text?',
  createdAt: 'number',
  body: 'text',
};

export const DEFINITION_COLUMNS = columnsOf<DefinitionRecord & { readonly source: string | null }>({
  ...DEFINITION,
  source: 'text?',
});

/** All but the source, which may be as long as the body. */
export const DEFINITION_NAMES = namesOf(DEFINITION);

const STORED: RecordColumns<StoredDefinition> = { ...DEFINITION, disabled: 'boolean' };

const VERSION: RecordColumns<Omit<DefinitionVersion, 'origin'>> = {
  id: 'text',
  version: 'number',
  description: 'text?',
  createdAt: 'number',
  disabled: 'boolean',
};

interface StampRow extends IdempotencyStamp {
  readonly definitionId: string;
  readonly version: number;
}

export const STAMP_COLUMNS = columnsOf<StampRow>({
  id: 'text',
  requestHash: 'text',
  definitionId: 'text',
  version: 'number',
});

/** A column of a query on definitions. @param id an expression for the definition's id */
export const disabledColumn = (id: string): string =>
  `EXISTS (SELECT 1 FROM @disabled_definitions AS known WHERE known.id = ${id}) AS disabled`;

const IS_DISABLED = disabledColumn('definitions.id');

const NEWEST = 'ORDER BY version DESC LIMIT 1';
const OF_VERSION = 'AND version = ?::bigint';
const NEXT_VERSIONS = 'AND version < ?::bigint ORDER BY version DESC LIMIT ?';

export const DEFINITION_OPERATIONS = {
  *getDefinition([id, version]) {
    const from = `SELECT ${DEFINITION_NAMES}, ${IS_DISABLED} FROM @definitions WHERE id = ?`;
    const row = yield* selectVersion(from, id, version);
    return row === null ? null : storedDefinitionOf(row);
  },

  *getDefinitionSource([id, version]) {
    const from = 'SELECT source FROM @definitions WHERE id = ?';
    const row = yield* selectVersion(from, id, version);
    return row?.textOrNull('source') ?? null;
  },

  *setDefinitionDisabled([id, disabled]) {
    const known = yield* selectOne('SELECT 1 AS found FROM @definitions WHERE id = ? LIMIT 1', id);
    if (known === null) return false;
    yield* change(
      disabled
        ? 'INSERT INTO @disabled_definitions (id) VALUES (?) ON CONFLICT (id) DO NOTHING'
        : 'DELETE FROM @disabled_definitions WHERE id = ?',
      id,
    );
    return true;
  },

  *listDefinitionVersions([id, beforeVersion, limit]) {
    const rows = yield* select(
      `SELECT id, version, description, createdAt, ${ORIGIN_HEAD_COLUMN}, ${IS_DISABLED} FROM @definitions
        WHERE id = ? ${NEXT_VERSIONS}`,
      id,
      beforeVersion ?? Number.MAX_SAFE_INTEGER,
      limit,
    );
    return rows.map(definitionVersionOf);
  },

  *getStepScript([name, version]) {
    const from = 'SELECT * FROM @step_scripts WHERE name = ?';
    const row = yield* selectVersion(from, name, version);
    return row === null ? null : stepScriptOf(row);
  },

  *listStepScriptVersions([name, beforeVersion, limit]) {
    const rows = yield* select(
      `SELECT ${namesOf(STEP_SCRIPT_VERSION)} FROM @step_scripts WHERE name = ? ${NEXT_VERSIONS}`,
      name,
      beforeVersion ?? Number.MAX_SAFE_INTEGER,
      limit,
    );
    return rows.map((row) => readRecord(row, STEP_SCRIPT_VERSION));
  },
} satisfies SqlOperations;

/** @param from a query for all versions of the name, to which the one is added */
function* selectVersion(
  from: string,
  name: string,
  version: number | 'latest',
): SqlSteps<StoredRow | null> {
  return version === 'latest'
    ? yield* selectOne(`${from} ${NEWEST}`, name)
    : yield* selectOne(`${from} ${OF_VERSION}`, name, version);
}

/** A list from the start includes an empty name. */
export function nameComparison(after: string | null): '>' | '>=' {
  return after === null ? '>=' : '>';
}

export function definitionOf(row: StoredRow): DefinitionRecord {
  return readRecord(row, DEFINITION);
}

export function storedDefinitionOf(row: StoredRow): StoredDefinition {
  return readRecord(row, STORED);
}

function definitionVersionOf(row: StoredRow): DefinitionVersion {
  return { ...readRecord(row, VERSION), origin: originOf(row.textOrNull('head')) };
}

export function stepScriptOf(row: StoredRow): StepScriptRecord {
  return readRecord(row, STEP_SCRIPT);
}
